import type { FlagShapes, FlagValues } from './define.ts';

/** Flags that every command takes. */
export const globalFlags = {
  server: { value: 'URL', help: 'address of the registry (default: the daemon on this machine)' },
  hardware: { value: 'URL', help: 'address of the service that sees the keys, where that is another one' },
  profile: { value: 'NAME', help: 'settings and login to use', offer: 'profile' },
  home: { value: 'DIR', help: 'folder where everything of this user lives', offer: 'folder' },
  ca: { value: 'FILE', help: 'certificates to trust the server by (PEM)', offer: 'file' },
  json: { help: 'write JSON: one document, or a line per result where there are many' },
  quiet: { short: 'q', help: 'write bare ids, one a line, and no notices' },
  verbose: { short: 'v', help: 'say what is asked of the server' },
  'no-color': { aliases: ['no-colour'], help: 'no colours' },
  'no-input': { help: 'never ask; name the missing flag instead' },
  'no-wait': { help: "give up at once when the server's limit is reached" },
  'no-autostart': { help: 'do not start the local daemon' },
  help: { short: 'h', help: 'show this help' },
} as const satisfies FlagShapes;

export type GlobalValues = FlagValues<typeof globalFlags>;

/** Flags of commands that read a password. */
export const passwordFlags = {
  'password-stdin': { help: 'read the password from the first line of standard input' },
  'password-file': { value: 'FILE', help: 'read the password from the first line of a file', offer: 'file' },
} as const satisfies FlagShapes;

export const csvFlag = { csv: { help: 'write CSV with a header row' } } as const satisfies FlagShapes;

/** Names a device by the key that is plugged in. */
export const pluggedFlag = {
  plugged: { help: 'the device of the one key that is plugged in' },
} as const satisfies FlagShapes;
