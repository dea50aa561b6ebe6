"""What all of the package stands on: places, messages, options, frames, forks."""
