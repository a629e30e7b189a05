/** The environment variables of the program, for the manual page and the reference. */

import { defaultHome, environment } from '../../contract/local.ts';
import { settingVariables } from '../../contract/setting-words.ts';

/** An environment variable, as the manual page and the reference describe it. */
interface Variable {
  readonly name: string;
  readonly words: string;
  /** Which part of the program reads it. A daemon that a command starts inherits the environment of the command. */
  readonly side: 'commands' | 'daemon' | 'both';
}

/** Variables of one side, each with its words. */
const of = (side: Variable['side'], words: Readonly<Record<string, string>>): Variable[] =>
  Object.entries(words).map(([name, text]) => ({ name, words: text, side }));

/** All variables, in the order of the reference. */
export const variables: readonly Variable[] = [
  ...of('both', {
    [environment.home]: `folder for all data of this user (${defaultHome('linux', {}, '~')}); --home overrides it`,
  }),
  ...of('commands', {
    [environment.server]: 'address of the registry, or several, separated by commas; --server overrides it',
    [environment.token]: 'token to use instead of the stored login: a service token, or that of a login',
    [environment.webhookSecret]: 'secret of the receiver of "watch --forward-to", if --secret-file is not set',
    [environment.labelPrinter]: 'printer of labels: HOST, HOST:PORT, lp or lp:QUEUE; --printer and --lp override it',
    DEVMGR_NO_KEYCHAIN: 'if not empty: store tokens in a file even if there is a keychain',
  }),
  ...settingVariables().map((variable): Variable => ({ ...variable, side: 'daemon' })),
  ...of('commands', {
    NO_COLOR: 'if not empty: write without colors',
    CLICOLOR_FORCE: 'if neither empty nor 0: write colors even without a terminal',
    DEVMGR_PAGER: 'pager for output that is longer than the screen; empty or cat: no pager (PAGER, or else less)',
    PAGER: 'the same, if DEVMGR_PAGER is not set',
    LC_ALL: 'locale: if it is not UTF-8, a terminal gets ASCII instead of drawn characters',
    LC_CTYPE: 'the same, if LC_ALL is not set',
    LANG: 'the same, if neither is set',
    BROWSER: 'command that "open" starts with a file, or several, separated by colons; %s is the file (xdg-open)',
    DISPLAY: 'display: on Linux "open" starts a browser only if this or WAYLAND_DISPLAY is set',
    WAYLAND_DISPLAY: 'the same, for Wayland',
    SSH_CONNECTION: 'if this or SSH_TTY is set, "open" prints the address instead of starting a browser',
    SSH_TTY: 'the same',
    XDG_RUNTIME_DIR: 'where "open" writes its file if only you can enter it (home)',
  }),
  ...of('both', {
    HTTPS_PROXY: 'proxy for addresses with https://, as http://USER:PASSWORD@HOST:PORT; never for this machine',
    HTTP_PROXY: 'the same, for addresses with http://',
    NO_PROXY:
      'what is reached without a proxy, separated by commas: host names (which include their subdomains), addresses, CIDRs, or *',
    XDG_DATA_HOME: 'parent of the home folder on Linux (~/.local/share)',
  }),
  ...of('commands', {
    XDG_CONFIG_HOME: 'where daemon install writes its unit on Linux (~/.config)',
  }),
  ...of('both', {
    XDG_CACHE_HOME: 'parent of the folder devmgr with the compiled code of earlier runs, on Linux (~/.cache)',
    NODE_COMPILE_CACHE: 'another folder for the compiled code',
    NODE_DISABLE_COMPILE_CACHE: 'if set: keep no compiled code',
  }),
  ...of('daemon', {
    PCSCLITE_CSOCK_NAME: 'socket of pcscd (/run/pcscd/pcscd.comm)',
  }),
  ...of('both', {
    TMPDIR: 'where the single executable writes native modules to load them; the folder must allow execution',
  }),
];
