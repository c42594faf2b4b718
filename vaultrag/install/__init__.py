"""What is put on the system: the service that starts the daemon, and the plugin's files in a vault.

``units`` says, as text, what each system's service manager is to read; ``plans`` what is written where and which
commands follow; ``managers`` does it and asks how the service fares. ``obsidian`` reads Obsidian's own list of vaults,
``plugin`` copies the plugin into one. Nothing here knows of the daemon's inside.
"""
