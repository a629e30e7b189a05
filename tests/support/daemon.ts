/** A real daemon for tests: listening on a free port of loopback, with a home of its own, in this process. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { readSettings } from '../../daemon/home/given-settings.ts';
import type { DaemonSettings } from '../../daemon/home/settings.ts';
import { type RunningDaemon, startDaemon } from '../../daemon/start/main.ts';
import { cheapHashes } from './cheap-hashes.ts';
import { validateAnswer } from './openapi.ts';
import { newTestStore } from './test-store.ts';

export const adminPassword = 'correct horse battery';
export const noFileBounds = { total: null, reserve: () => 0, daily: null };
const noLimits = { login: null, query: null, modify: null, upload: null, signIn: null };

export interface Answer {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
  readonly data: any;
  readonly headers: Headers;
}

export interface TestDaemon {
  readonly url: string;
  readonly home: string;
  /** Environment with which programs of the home find its registry, if it is in PostgreSQL. */
  readonly storeEnv: Readonly<Record<string, string>>;
  /** Everything the daemon has logged, as it would be written. */
  readonly logged: () => string;
  /**
   * One request; `token` null sends none, undefined the administrator's. An answer that is not as the OpenAPI document
   * describes it is thrown.
   */
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  login(username: string, password?: string): Promise<string>;
  /** Makes a user (password: `adminPassword`) and logs in. */
  user(username: string, role: 'ADMIN' | 'DEALER' | 'VIEWER'): Promise<{ readonly id: string; readonly token: string }>;
  readonly adminToken: string;
  /** Ends the daemon and starts another on the same home. */
  restart(settings?: Partial<DaemonSettings>): Promise<void>;
  /** Ends the daemon; `startAgain` starts another on the same home. */
  stopKeepingHome(): Promise<void>;
  startAgain(settings?: Partial<DaemonSettings>): Promise<void>;
  stop(): Promise<void>;
}

export interface CallOptions {
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is, with no Content-Type of ours. */
  readonly raw?: Exclude<RequestInit['body'], null | undefined>;
}

export async function startTestDaemon(settings: Partial<DaemonSettings> = {}): Promise<TestDaemon> {
  const home = await mkdtemp(join(tmpdir(), 'devmgr-test-'));
  const target = await newTestStore();
  const lines: string[] = [];
  const log = pino({ level: 'debug', base: null }, { write: line => void lines.push(line) });
  const start = (more: Partial<DaemonSettings> = {}) =>
    startDaemon(
      { ...testSettings(home), ...(target ? { store: target } : {}), ...settings, ...more },
      '0.0.0-test',
      log,
    );
  let daemon: RunningDaemon = await start();
  let adminToken = '';

  const call: TestDaemon['call'] = async (method, path, body, options = {}) => {
    const { token = adminToken, headers = {}, raw } = options;
    const response = await fetch(daemon.url + path, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(raw !== undefined ? { body: raw, duplex: 'half' } : body === undefined ? {} : { body: JSON.stringify(body) }),
    } as RequestInit);
    const envelope = (await response.json()) as { code: number; message: string; data: unknown };
    const faults = validateAnswer(method, path, response.status, envelope);
    if (faults.length) throw new Error(`the answer is not as documented: ${faults.join('; ')}`);
    return { status: response.status, headers: response.headers, ...envelope } as Answer;
  };
  const login: TestDaemon['login'] = async (username, password = adminPassword) => {
    const answer = await call('POST', '/api/auth/login', { username, password }, { token: null });
    if (answer.code !== 200) throw new Error(`login of ${username} failed: ${answer.code} ${answer.message}`);
    return answer.data.token as string;
  };
  adminToken = await login('admin');
  return {
    get url() {
      return daemon.url;
    },
    home: settings.home ?? home,
    storeEnv: target?.url ? { DEVMGR_STORE: target.url } : {},
    logged: () => lines.join(''),
    call,
    login,
    async user(username, role) {
      const made = await call('POST', '/api/users', { username, password: adminPassword, role });
      if (made.code !== 200) throw new Error(`user ${username} was not made: ${made.message}`);
      return { id: made.data.id, token: await login(username) };
    },
    get adminToken() {
      return adminToken;
    },
    async restart(more) {
      await daemon.stop();
      daemon = await start(more);
    },
    stopKeepingHome: () => daemon.stop(),
    async startAgain(more) {
      daemon = await start(more);
    },
    async stop() {
      await daemon.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

export function testSettings(home: string): DaemonSettings {
  return {
    ...readSettings({ port: 0 }, { DEVMGR_ADMIN_PASSWORD: adminPassword }),
    home,
    json: true,
    verbose: true,
    limits: noLimits,
    fileBounds: noFileBounds,
    hardware: false,
    passwordCost: cheapHashes,
  };
}
