"""What is wrong, and the command that repairs it: checks that really try things, with a daemon or without one."""
