"""Adds the entries of an LDIF file to a domain whose server does not run: load.py SMB.CONF SAM.LDB FILE"""

import sys
from samba.auth import system_session
from samba.param import LoadParm
from samba.samdb import SamDB

# Indexes are written once, at the end of a transaction. With the default size of their cache, each entry takes longer than the one before.
OPTIONS = ["batch_mode:1", "transaction_index_cache_size:400000"]

config, database, file = sys.argv[1:]
settings = LoadParm()
settings.load(config)
domain = SamDB(url=database, lp=settings, session_info=system_session(settings), options=OPTIONS)
with open(file) as ldif:
    entries = ldif.read()
domain.transaction_start()
domain.add_ldif(entries)
domain.transaction_commit()
