// Tests of LessonBook.
