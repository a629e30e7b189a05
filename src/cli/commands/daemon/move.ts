import { usage } from '../../fault.ts';
import { command } from '../../framework/define.ts';
import { homeOf, programIo, registryFlags } from './store.ts';

/** Creates a registry. Idempotent. */
export const daemonInit = command({
  description:
    'Creates the schema, the keys and the first administrator, but does not start a daemon. If the registry already exists, nothing is changed. Several nodes can run it at the same time: one of them creates the registry. An empty database is refused if the keys belong to another registry; --new-registry moves those keys to another folder and creates new ones.\nA daemon that finds no registry creates one; you need this command only for a registry that several machines will use.',
  flags: {
    store: { value: 'URL', help: 'create it in PostgreSQL: postgres://USER@HOST:PORT/DATABASE' },
    secrets: { value: 'DIR', offer: 'file', help: 'keep the keys in this folder, outside the home folder' },
    'new-registry': {
      help: 'create a registry even if the keys belong to another one; those are moved to another folder',
    },
  },
  examples: {
    'in PostgreSQL': 'daemon init --store postgres://devmgr@db.example.com/devmgr --secrets /etc/devmgr/secrets',
  },
  run: ({ flags }, context) => context.programs.init({ ...flags, ...homeOf(context) }, programIo(context)),
});

/** Moves a registry from SQLite to PostgreSQL, or back. */
export const daemonCopy = command({
  description:
    'Copies all rows with their ids and the journal unchanged, then verifies the copy like daemon check. The keys stay the same, so the journal and all tokens stay valid. The target must be empty, or an interrupted copy of the same registry, which is then continued. Stop all daemons first: the command is refused while one uses the source or the target. The source is not changed.\nFiles are copied if --files-from or --files-to is given; otherwise they are left in place.',
  flags: {
    from: { value: 'URL', help: 'the registry to copy: sqlite: (in the home folder), sqlite:FILE or postgres://…' },
    to: { value: 'URL', help: 'the target: an empty database, or sqlite:FILE for a new file' },
    'files-from': { value: 'URL', help: 'where the files are: file: (in the home folder) or s3://…' },
    'files-to': { value: 'URL', help: 'where the files go' },
    secrets: registryFlags.secrets,
  },
  examples: {
    'from SQLite to PostgreSQL': 'daemon copy --from sqlite: --to postgres://devmgr@db.example.com/devmgr',
    'files included':
      'daemon copy --from sqlite: --to postgres://devmgr@db.example.com/devmgr --files-from file: --files-to s3://devmgr-files',
  },
  run({ flags }, context) {
    const { from, to } = flags;
    if (from === undefined || to === undefined) throw usage('daemon copy needs --from and --to');
    return context.programs.copy({ ...flags, ...homeOf(context), from, to }, programIo(context));
  },
});
