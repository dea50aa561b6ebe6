"""What the compiler has against programs: a function for each rule, by families."""
