// Tests of Specimens.
