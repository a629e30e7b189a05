/**
 * The keychain of the operating system. A keychain that is locked may wait for a person for ever, and its native call
 * cannot be called off; so each access is a process of its own, which is ended when its time is up.
 */
import { selfCommand } from './self.ts';

const deadlineMs = 3_000;
const service = 'devmgr';
/** Hidden command that does one access; see `runKeychainStep`. */
export const keychainCommand = '__keychain';
type Step = 'read' | 'write' | 'remove';

/** Without a session bus there is no keychain on Linux, and asking for one would only take time. */
function isPossible(): boolean {
  if (process.env.DEVMGR_NO_KEYCHAIN) return false;
  return process.platform !== 'linux' || Boolean(process.env.DBUS_SESSION_BUS_ADDRESS);
}

export const keychain = {
  /** Null where there is none, or the keychain does not answer. */
  read: (account: string): Promise<string | null> => access('read', account, ''),
  /** False where the keychain did not take it. */
  write: async (account: string, secret: string): Promise<boolean> => (await access('write', account, secret)) !== null,
  remove: async (account: string): Promise<boolean> => (await access('remove', account, '')) !== null,
};

function access(step: Step, account: string, secret: string): Promise<string | null> {
  if (!isPossible()) return Promise.resolve(null);
  const { file, args } = selfCommand();
  const { spawn } = process.getBuiltinModule('node:child_process');
  return new Promise(resolve => {
    const child = spawn(file, [...args, keychainCommand, step, account], {
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: deadlineMs,
      killSignal: 'SIGKILL',
    });
    let answer = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
    });
    child.on('error', () => resolve(null));
    child.on('close', code => resolve(code === 0 ? answer : null));
    child.stdin.on('error', () => undefined);
    child.stdin.end(secret);
  });
}

/** The child's side: `read`, `write` (the secret on standard input) or `remove`. Resolves to the exit code. */
export async function runKeychainStep(args: readonly string[]): Promise<number> {
  const [step, account] = args;
  if (account === undefined) return 2;
  try {
    const { Entry } = await import('@napi-rs/keyring');
    const entry = new Entry(service, account, { linux: { store: 'secret-service' } });
    if (step === 'write') entry.setPassword(await standardInput());
    else if (step === 'remove') entry.deletePassword();
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
