// Tests of Workloads.
