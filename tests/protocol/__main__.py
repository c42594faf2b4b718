"""``python -m tests.protocol`` records what the daemon says in each golden conversation anew.

To add one, write its client's lines with an empty ``{"daemon": {}}`` for each message that should come.
"""

from dataclasses import replace

from tests.protocol.conversations import FOLDER, Conversation, replay
from tests.support.daemons import daemon_home

for path in sorted(FOLDER.glob("*.jsonl")):
    conversation = Conversation.read(path)
    with daemon_home() as home:
        for name, text in conversation.notes.items():
            home.write(name, text)
        daemon = home.start()
        vault = daemon.ready().id
        replace(conversation, steps=[said for _, said in replay(conversation, home, vault)]).write(path)
    print(path)
