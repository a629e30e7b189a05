import { usage } from '../../fault.ts';
import { command } from '../../framework/define.ts';
import { homeOf, programIo, registryFlags } from './store.ts';

/** Creates a registry. Idempotent. */
export const daemonInit = command({
  description:
    'Creates the schema, the keys and the first administrator, and starts no daemon. If the registry exists, it reports this and changes nothing. Several nodes can run it at the same time: one of them creates the registry. An empty database is refused if the keys belong to another registry; --new-registry moves those keys into a folder beside them, and creates others.\nA daemon that finds no registry creates one itself; this command is for a registry that several machines will use.',
  flags: {
    store: { value: 'URL', help: 'create it in PostgreSQL: postgres://USER@HOST:PORT/DATABASE' },
    secrets: { value: 'DIR', offer: 'file', help: 'keep the keys in this folder, outside the home' },
    'new-registry': { help: 'create a registry even if the keys belong to another one: they are moved aside' },
  },
  examples: [
    {
      does: 'in PostgreSQL',
      line: 'daemon init --store postgres://devmgr@db.example.com/devmgr --secrets /etc/devmgr/secrets',
    },
  ],
  run: ({ flags }, context) => context.programs.init({ ...flags, ...homeOf(context) }, programIo(context)),
});

/** Moves a registry from SQLite to PostgreSQL, or back. */
export const daemonCopy = command({
  description:
    'Copies all rows with their ids and the journal as it is, then verifies the copy as daemon check does. The keys stay the same, so the journal and all tokens stay valid. The target must be empty, or the interrupted copy of the same registry, which is continued. Stop all daemons first: the command is refused while one uses the source or the target. The source is not changed.\nFiles are copied if --files-from or --files-to is given; otherwise they are left in place.',
  flags: {
    from: { value: 'URL', help: 'the registry to copy: sqlite: (the one of the home), sqlite:FILE or postgres://…' },
    to: { value: 'URL', help: 'where to: an empty database, or sqlite:FILE for a new file' },
    'files-from': { value: 'URL', help: 'where the files are: file: (in the home) or s3://…' },
    'files-to': { value: 'URL', help: 'where the files go' },
    secrets: registryFlags.secrets,
  },
  examples: [
    {
      does: 'from SQLite to PostgreSQL',
      line: 'daemon copy --from sqlite: --to postgres://devmgr@db.example.com/devmgr',
    },
    {
      does: 'files included',
      line: 'daemon copy --from sqlite: --to postgres://devmgr@db.example.com/devmgr --files-from file: --files-to s3://devmgr-files',
    },
  ],
  run({ flags }, context) {
    const { from, to } = flags;
    if (from === undefined || to === undefined) throw usage('daemon copy needs --from and --to');
    return context.programs.copy({ ...flags, ...homeOf(context), from, to }, programIo(context));
  },
});
