import { daemonSettings, type FlagKey, type SettingRow } from '../../../contract/daemon-settings.ts';
import { flagHelp, flagName } from '../../../contract/setting-words.ts';
import { command } from '../../framework/define.ts';
import type { FlagShape, Hyphens } from '../../framework/flags.ts';
import { programIo } from './store.ts';

type Rows = typeof daemonSettings;
type Described<R> = Pick<R, Extract<keyof R, 'value' | 'whole' | 'choices' | 'many'>> & { readonly help: string };
type DaemonFlags = {
  readonly [K in FlagKey as Rows[K] extends { readonly default: true } ? `no-${Hyphens<K>}` : Hyphens<K>]: Described<
    Rows[K]
  >;
};

/** Flags of the commands that start a daemon. */
export const daemonFlags = Object.fromEntries(
  Object.entries<object>(daemonSettings).flatMap(([key, row]: [string, SettingRow]): [string, FlagShape][] => {
    const { help, variable: _, words, otherwise, default: byDefault, ...shape } = row;
    return help === undefined ? [] : [[flagName(key, row), { ...shape, help: flagHelp(row) }]];
  }),
) as unknown as DaemonFlags;

/** Runs the daemon in this process until SIGTERM or Ctrl-C. */
export const daemonRun = command({
  description:
    'Stops on SIGTERM or Ctrl-C. With --json the log is written to standard output as JSON lines, and one of them is {"event":"listening","url":"http://127.0.0.1:PORT"}.',
  flags: daemonFlags,
  examples: {
    'on this machine': 'daemon run',
    'for a network': 'daemon run --host 0.0.0.0 --tls-cert chain.pem --tls-key key.pem',
    'for a test': 'daemon run --port 0 --json --home /tmp/home --simulate-keys 2',
  },
  run({ flags }, context) {
    const { json, verbose } = context.globals;
    return context.programs.run({ ...flags, home: context.settings.home, json, verbose }, programIo(context));
  },
});
