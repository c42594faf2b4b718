"""The one composition root: settings become adapters, adapters a service, and the service is put on a socket.

``run.Daemon`` is the process; ``vaults`` puts one vault together; ``lock`` keeps a second daemon away; ``manager``
talks to the service manager.
"""
