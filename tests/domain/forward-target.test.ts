import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StartRefused } from '../../daemon/base/start-refused.ts';
import { forwardTarget } from '../../daemon/home/forward-target.ts';

function refusal(url: string, env: Readonly<Record<string, string>> = {}): StartRefused {
  try {
    forwardTarget(url, env);
  } catch (error) {
    if (error instanceof StartRefused) return error;
    throw error;
  }
  throw new Error(`${url} was accepted`);
}

describe('a target of --forward', () => {
  it.each([
    ['syslog+tcp://logs.example:601', { kind: 'tcp', host: 'logs.example', port: 601 }],
    ['syslog+tcp://logs.example', { kind: 'tcp', host: 'logs.example', port: 514 }],
    ['syslog+tls://[2001:db8::1]', { kind: 'tls', host: '2001:db8::1', port: 6514 }],
    ['syslog+unix:///run/log%20socket', { kind: 'unix', path: '/run/log socket' }],
    ['https://logs.example/in?key=1', { kind: 'http', name: 'https://logs.example/in', token: null }],
    ['http://localhost:8080/', { kind: 'http' }],
    ['http://[::1]:8080/', { kind: 'http' }],
  ])('can be %s', (url, expected) => {
    expect(forwardTarget(url, {})).toMatchObject(expected);
  });

  it.each([
    ['logs.example:601', /scheme logs\.example/],
    ['not a URL', /not a URL/],
    ['udp://logs.example', /scheme udp/],
    ['syslog+udp://logs.example', /scheme syslog\+udp/],
    ['file:///etc/passwd', /scheme file/],
    ['http://logs.example/', /not encrypted/],
    ['http://127.0.0.1.example/', /not encrypted/],
    ['https://user:secret@logs.example/', /contains credentials/],
    ['syslog+tcp://logs.example/path', /must not have a path/],
    ['syslog+tcp://logs.example?x=1', /query or fragment/],
    ['syslog+tcp://', /needs a host/],
    ['syslog+tcp://logs.example:0', /port from 1 to 65535/],
    ['syslog+tcp://logs.example:70000', /not a URL/],
    ['syslog+unix://', /path of the socket/],
    ['syslog+unix://host/socket', /path of the socket/],
    ['syslog+unix:///%ff', /malformed/],
  ])('cannot be %s', (url, reason) => {
    const { exitCode, message, hint } = refusal(url);
    expect(exitCode).toBe(2);
    expect(message).toMatch(reason);
    expect(message).not.toContain('secret');
    expect(hint).not.toBeNull();
  });

  it('is taken from the environment, and the flag overrides it', () => {
    const env = { DEVMGR_AUDIT_FORWARD: 'syslog+tcp://environment' };
    expect(forwardTarget(null, env)).toMatchObject({ host: 'environment' });
    expect(forwardTarget('syslog+tcp://flag', env)).toMatchObject({ host: 'flag' });
    expect(forwardTarget(null, {})).toBeNull();
    expect(forwardTarget(null, { DEVMGR_AUDIT_FORWARD: '' })).toBeNull();
  });

  it.runIf(process.platform !== 'win32')('needs a token that only its owner can read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'devmgr-token-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'token');
    await writeFile(file, 'secret\n', { mode: 0o644 });
    const env = { DEVMGR_AUDIT_FORWARD_TOKEN_FILE: file };
    for (const mode of [0o644, 0o640, 0o604]) {
      await chmod(file, mode);
      expect(refusal('https://logs.example/', env)).toMatchObject({
        exitCode: 2,
        message: `${file} contains a token, and others can read it`,
        hint: `chmod 600 ${file}`,
      });
    }
    await chmod(file, 0o600);
    expect(forwardTarget('https://logs.example/', env)).toMatchObject({ token: { file } });
  });

  it('needs files that can be read', () => {
    const missing = { DEVMGR_AUDIT_FORWARD_TOKEN_FILE: '/nonexistent/token' };
    expect(refusal('https://logs.example/', missing)).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/TOKEN_FILE cannot be read/),
    });
    const ca = { DEVMGR_AUDIT_FORWARD_CA: '/nonexistent/ca' };
    expect(refusal('syslog+tls://logs.example/', ca)).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/FORWARD_CA cannot be read/),
    });
  });
});
