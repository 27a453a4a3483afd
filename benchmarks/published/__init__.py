"""Published algorithms, kept as their authors describe them: the baselines that the benchmarks are measured against."""
