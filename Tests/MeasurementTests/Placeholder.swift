// Tests of Measurement.
