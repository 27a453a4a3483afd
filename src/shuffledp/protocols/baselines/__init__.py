"""The same answers under other trust: by a curator, whom one gives the values, or by nobody."""
