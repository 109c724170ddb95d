// Tests of Experiments.
