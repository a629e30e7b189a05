/** The environment variables of the program. The manual page and the reference are made from this. */
import { type LimitScope, rateLimits } from '../contract/limits.ts';
import { defaultHome, environment } from '../contract/local.ts';

export interface Variable {
  readonly name: string;
  readonly words: string;
  /** Which side of the program reads it. A daemon that a command starts has the command's environment. */
  readonly side: 'commands' | 'daemon' | 'both';
}

const limitWords: Readonly<Record<LimitScope, string>> = {
  login: 'logins of an address',
  query: 'reads of a user',
  modify: 'changes of a user',
  upload: 'uploads of a user',
};

const limits = (Object.keys(limitWords) as LimitScope[]).map((scope): Variable => {
  const { count, seconds } = rateLimits[scope];
  return {
    name: environment.limits[scope],
    words: `limit of ${limitWords[scope]}, as COUNT/SECONDS or off (${count}/${seconds})`,
    side: 'daemon',
  };
});

export const variables: readonly Variable[] = [
  {
    name: environment.home,
    words: `folder where everything of this user lives (${defaultHome('linux', {}, '~')}); --home beats it`,
    side: 'both',
  },
  { name: environment.server, words: 'address of the registry; --server beats it', side: 'commands' },
  { name: environment.token, words: 'token to use in place of the stored login', side: 'commands' },
  {
    name: 'DEVMGR_NO_KEYCHAIN',
    words: 'keep tokens in a file even where there is a keychain, where it is not empty',
    side: 'commands',
  },
  {
    name: environment.adminUsername,
    words: 'name of the first administrator (admin); read at the first start alone',
    side: 'daemon',
  },
  {
    name: environment.adminPassword,
    words: 'password of the first administrator (a random one); read at the first start alone',
    side: 'daemon',
  },
  ...limits,
  {
    name: environment.traffic,
    words: 'what is said to keys and cards goes to the log: off, masked (without serial numbers) or full (off)',
    side: 'daemon',
  },
  { name: 'NO_COLOR', words: 'no colours, where it is not empty', side: 'commands' },
  {
    name: 'CLICOLOR_FORCE',
    words: 'colours also where there is no terminal, where it is neither empty nor 0',
    side: 'commands',
  },
  { name: 'XDG_DATA_HOME', words: 'where the home folder is made on Linux (~/.local/share)', side: 'both' },
  { name: 'XDG_CONFIG_HOME', words: 'where daemon install puts its unit on Linux (~/.config)', side: 'commands' },
  {
    name: 'PCSCLITE_CSOCK_NAME',
    words: 'socket of pcscd, where it is not at the usual place (/run/pcscd/pcscd.comm)',
    side: 'daemon',
  },
  {
    name: 'TMPDIR',
    words: 'where the single executable puts native modules while it loads them: a folder that allows programs',
    side: 'both',
  },
];
