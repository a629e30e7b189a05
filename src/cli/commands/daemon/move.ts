import { command } from '../../define.ts';
import { programIo } from './store.ts';

/** Creates a registry. Idempotent. */
export const daemonInit = command({
  description:
    'Creates the schema, the keys and the first administrator, and starts no daemon. If the registry exists, it says so and changes nothing. Several nodes can run it at the same time: one of them creates the registry.\nA daemon that finds no registry creates one itself; this command is for a registry that several machines will use.',
  flags: {
    store: { value: 'URL', help: 'create it in PostgreSQL: postgres://USER@HOST:PORT/DATABASE' },
    secrets: { value: 'DIR', offer: 'file', help: 'keep the keys in this folder, outside the home' },
  },
  examples: [
    {
      does: 'in PostgreSQL',
      line: 'daemon init --store postgres://devmgr@db.example.com/devmgr --secrets /etc/devmgr/secrets',
    },
  ],
  run: ({ flags }, context) =>
    context.programs.init(
      {
        home: context.settings.home,
        json: context.globals.json,
        store: flags.store ?? null,
        secrets: flags.secrets ?? null,
      },
      programIo(context),
    ),
});
