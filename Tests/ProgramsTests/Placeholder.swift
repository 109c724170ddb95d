// Tests of Programs.
