"""Adds the entries of an LDIF file to a domain whose server does not run: load.py SMB.CONF SAM.LDB FILE"""

import sys
from samba.auth import system_session
from samba.param import LoadParm
from samba.samdb import SamDB

# In one transaction, each entry takes longer than the one before.
BATCH = 500

config, database, file = sys.argv[1:]
settings = LoadParm()
settings.load(config)
domain = SamDB(url=database, lp=settings, session_info=system_session(settings))
with open(file) as ldif:
    entries = ldif.read().strip().split("\n\n")
for start in range(0, len(entries), BATCH):
    domain.transaction_start()
    domain.add_ldif("\n\n".join(entries[start : start + BATCH]) + "\n")
    domain.transaction_commit()
