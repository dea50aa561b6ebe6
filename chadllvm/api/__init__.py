"""What users call: functions that are compiled, their derivatives, export."""
