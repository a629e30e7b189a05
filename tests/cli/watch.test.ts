/** `watch`: events in order and without a gap, across lost connections and two runs. */
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Daemon, devmgr, discard, start, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

let serials = 0;
const registerOne = () => daemon.register(`WATCH-${++serials}`);
let newest = 0;
beforeEach(async () => {
  await registerOne();
  const { rows } = await daemon.run([
    'watch',
    '--since',
    '0',
    '--count',
    String(serials),
    '--json',
    '--type',
    'DEVICE_REGISTERED',
  ]);
  newest = rows.at(-1).id;
});

test('writes events as they happen, one JSON document per line, and ends after --count', async () => {
  const running = daemon.start([
    'watch',
    '--count',
    '2',
    '--type',
    'device_registered,DEVICE_LOCKED',
    '--json',
    '--since',
    String(newest),
  ]);
  const { deviceId } = await registerOne();
  const second = await registerOne();
  const { code, rows } = await running.ended;
  expect(code).toBe(0);
  expect(rows).toMatchObject([
    {
      type: 'DEVICE_REGISTERED',
      data: { deviceId, deviceType: 'UKEY' },
      id: expect.any(Number),
      timestamp: expect.any(String),
    },
    { type: 'DEVICE_REGISTERED', data: { deviceId: second.deviceId } },
  ]);
});

test('writes a line per event, and the state of the connection to standard error', async () => {
  const running = daemon.start(['watch', '--count', '1']);
  await running.until('stderr', /connected/);
  await registerOne();
  const { stdout, stderr } = await running.ended;
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}WATCH-\d+ {2}registered \(UKEY\) {2}by admin {2}#\d+\n$/);
  expect(stderr).toMatch(/^connecting: http.*\nconnected/);
});

test('continues after the last event of the previous run', async () => {
  await daemon.run(['watch', '--since', String(newest - 1), '--count', '1']);
  const { deviceId } = await registerOne();
  const { rows } = await daemon.run(['watch', '--since', 'last', '--count', '1', '--json']);
  expect(rows).toMatchObject([{ data: { deviceId } }]);
});

test('continues after the last event of the same selection, and of a watch of everything', async () => {
  const home = temporaryFolder();
  const options = { home, env: { DEVMGR_TOKEN: daemon.token } };
  const watch = (...args: string[]) =>
    devmgr(['watch', '--server', daemon.url, '--json', '--count', '1', '--timeout', '5', ...args], options);
  const { deviceId } = await registerOne();
  await watch('--since', String(newest - 1));
  const updates = ['--type', 'DEVICE_UPDATED', '--since', 'last'];
  expect((await watch(...updates)).rows).toEqual([]);
  await daemon.run(['update', deviceId, '--note', 'worn']);
  expect((await watch(...updates)).rows).toMatchObject([{ type: 'DEVICE_UPDATED' }]);
  // A watch of some types has not seen the others.
  expect((await watch('--since', 'last')).rows).toMatchObject([{ type: 'DEVICE_REGISTERED', data: { deviceId } }]);
});

test('continues where the first run started if there was no event', async () => {
  const last = ['watch', '--since', 'last', '--server', daemon.url];
  const options = { home: temporaryFolder(), env: { DEVMGR_TOKEN: daemon.token } };
  const first = start(last, options);
  await first.until('stderr', /connected/);
  first.child.kill('SIGINT');
  await first.ended;
  const { deviceId } = await registerOne();
  const { rows } = await devmgr([...last, '--json', '--count', '1', '--timeout', '5'], options);
  expect(rows).toMatchObject([{ data: { deviceId } }]);
});

test.each([
  ['an invalid start', ['--since', 'yesterday']],
  ['a start ahead of the journal', ['--since', '999999']],
  ['an unknown type', ['--type', 'NOTHING']],
])('%s is a usage error', async (_, args) => {
  expect((await daemon.run(['watch', ...args])).code).toBe(2);
});

test('ends after --timeout', async () => {
  expect((await daemon.run(['watch', '--timeout', '1'])).code).toBe(0);
});

describe('a lost connection', () => {
  let server: Server;
  const sockets = new Set<Socket>();

  /** A proxy to the daemon whose connections can be cut. */
  async function wire(): Promise<string> {
    const { hostname, port } = new URL(daemon.url);
    server = createServer(socket => {
      const onward = createConnection(Number(port), hostname);
      for (const end of [socket, onward]) {
        sockets.add(end);
        end.on('error', () => undefined).on('close', () => sockets.delete(end));
      }
      socket.pipe(onward).pipe(socket);
    });
    onTestFinished(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  }

  test('is restored, and no event is missed or repeated', async () => {
    const url = await wire();
    const running = daemon.start(['watch', '--count', '3', '--json', '--since', String(newest), '--server', url], {
      env: { DEVMGR_TOKEN: daemon.token },
    });
    const ids = [(await registerOne()).deviceId];
    await running.until('stdout', /\n/);
    for (const socket of sockets) socket.destroy();
    ids.push((await registerOne()).deviceId);
    await running.until('stderr', /lost[\s\S]*resumed: after event \d+/);
    ids.push((await registerOne()).deviceId);
    const { code, rows } = await running.ended;
    expect(code).toBe(0);
    expect(rows.map(row => row.data.deviceId)).toEqual(ids);
  });
});

test('survives a restart of the daemon on another port', async () => {
  const own = await startDaemon();
  const running = own.start(['watch', '--count', '2', '--json', '--since', '0', '--type', 'DEVICE_REGISTERED']);
  const first = await own.register('RESTART-1');
  await running.until('stdout', /\n/);
  await own.end('SIGTERM');
  const restarted = await startDaemon({ home: own.home });
  try {
    const second = await restarted.register('RESTART-2');
    const { rows, stderr } = await running.ended;
    expect(rows.map(row => row.data.deviceId)).toEqual([first.deviceId, second.deviceId]);
    expect(stderr).toContain('lost');
  } finally {
    await discard(restarted);
  }
});

test('ends with 3 when its login becomes invalid', async () => {
  const own = await startDaemon();
  try {
    const { id } = await own.call('POST', '/api/users', {
      username: 'watcher',
      password: 'correct horse battery',
      role: 'VIEWER',
    });
    const login = await own.run(['login', 'watcher', '--password-stdin', '--json', '--profile', 'w'], {
      input: 'correct horse battery',
    });
    expect(login.code).toBe(0);
    const running = own.start(['watch', '--profile', 'w']);
    await running.until('stderr', /connected/);
    await own.call('PUT', `/api/users/${id}`, { disabled: true });
    const { code, stderr } = await running.ended;
    expect(code).toBe(3);
    expect(stderr).toContain('the login is no longer valid');
  } finally {
    await discard(own);
  }
});

test('a start that the journal does not have is refused, with what to type instead', async () => {
  const { code, stderr } = await daemon.run(['watch', '--since', '999999', '--count', '1']);
  expect(code).toBe(2);
  expect(stderr).toContain('omit --since');
});
