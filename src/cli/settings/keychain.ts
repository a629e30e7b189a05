/**
 * The keychain of the operating system. A locked keychain may wait for a person forever, and its native call cannot be
 * canceled, so each access runs in a process of its own that ends after a deadline.
 */
import { selfCommand } from './processes.ts';

const deadlineMs = 3_000;
const service = 'devmgr';
/** Hidden command that performs one access; see `runKeychainAccess`. */
export const keychainCommand = '__keychain';
type KeychainAccess = 'read' | 'write' | 'remove';

/** Without a session bus there is no keychain on Linux, and asking for one would only take time. */
function isPossible(): boolean {
  if (process.env.DEVMGR_NO_KEYCHAIN) return false;
  return process.platform !== 'linux' || Boolean(process.env.DBUS_SESSION_BUS_ADDRESS);
}

/** Secrets of this program by account. No call throws, and each returns within the deadline. */
export const keychain = {
  /** The secret; null if there is none or the keychain does not respond. */
  read: (account: string): Promise<string | null> => access('read', account, ''),
  /** False if the keychain did not store the secret. */
  write: async (account: string, secret: string): Promise<boolean> => (await access('write', account, secret)) !== null,
  /** False if nothing was removed. */
  remove: async (account: string): Promise<boolean> => (await access('remove', account, '')) !== null,
};

function access(kind: KeychainAccess, account: string, secret: string): Promise<string | null> {
  if (!isPossible()) return Promise.resolve(null);
  const { file, args } = selfCommand();
  const { spawn } = process.getBuiltinModule('node:child_process');
  return new Promise(resolve => {
    const child = spawn(file, [...args, keychainCommand, kind, account], {
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: deadlineMs,
      killSignal: 'SIGKILL',
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.on('error', () => resolve(null));
    child.on('close', code => resolve(code === 0 ? output : null));
    child.stdin.on('error', () => undefined);
    child.stdin.end(secret);
  });
}

/** The child's side: `read`, `write` (the secret comes on standard input) or `remove`. Resolves to the exit code. */
export async function runKeychainAccess(args: readonly string[]): Promise<number> {
  const [kind, account] = args;
  if (account === undefined) return 2;
  try {
    const { Entry } = await import('@napi-rs/keyring');
    const entry = new Entry(service, account, { linux: { store: 'secret-service' } });
    if (kind === 'write') entry.setPassword(await standardInput());
    else if (kind === 'remove') entry.deletePassword();
    else {
      const secret = entry.getPassword();
      if (secret === null) return 1;
      process.stdout.write(secret);
    }
    return 0;
  } catch {
    return 1;
  }
}

async function standardInput(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  return text;
}
