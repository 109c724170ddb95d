// Tests of Tracing.
