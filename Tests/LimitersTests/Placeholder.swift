// Tests of Limiters.
