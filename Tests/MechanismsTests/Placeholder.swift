// Tests of Mechanisms.
