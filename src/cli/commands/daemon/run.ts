import { defaultHost, defaultPort } from '../../../contract/local.ts';
import { command, type FlagShapes } from '../../define.ts';

/** Flags of the daemon, for those commands that start one. */
export const daemonFlags = {
  host: { value: 'HOST', help: `address to listen on (${defaultHost})` },
  port: {
    value: 'PORT',
    whole: { min: 0, max: 65_535 },
    help: `port to listen on (${defaultPort}); 0 takes a free one`,
  },
  'simulate-keys': {
    value: 'N',
    whole: { min: 0, max: 1000 },
    help: 'add keys that exist in software alone, marked as such',
  },
  'tls-cert': { value: 'FILE', offer: 'file', help: 'certificate chain to serve HTTPS with (PEM)' },
  'tls-key': { value: 'FILE', offer: 'file', help: 'its private key (PEM)' },
  'insecure-http': { help: 'serve a network without TLS all the same' },
  'trust-proxy': { value: 'CIDR', many: true, help: 'believe X-Forwarded-For from this network' },
  'allow-host': { value: 'NAME', many: true, help: 'a further name the daemon may be called by' },
  'ukey-match': { value: 'VID[:PID]', many: true, help: 'treat these USB devices as keys as well (hex)' },
} as const satisfies FlagShapes;

export const daemonRun = command({
  name: 'daemon run',
  summary: 'run the daemon in the foreground',
  description:
    'Ends at SIGTERM or Ctrl-C. With --json its log is JSON lines on standard output, and one of them is {"event":"listening","url":"http://127.0.0.1:PORT"}.',
  flags: daemonFlags,
  examples: [
    { does: 'on this machine', line: 'daemon run' },
    { does: 'for a network', line: 'daemon run --host 0.0.0.0 --tls-cert chain.pem --tls-key key.pem' },
    { does: 'for a test', line: 'daemon run --port 0 --json --home /tmp/home --simulate-keys 2' },
  ],
  run({ flags }, { io, env, programs, settings, globals }) {
    return programs.run(
      {
        host: flags.host ?? defaultHost,
        port: flags.port ?? defaultPort,
        home: settings.home,
        json: globals.json,
        verbose: globals.verbose,
        simulateKeys: flags.simulateKeys ?? 0,
        tlsCert: flags.tlsCert ?? null,
        tlsKey: flags.tlsKey ?? null,
        insecureHttp: flags.insecureHttp,
        trustProxy: flags.trustProxy,
        allowHosts: flags.allowHost,
        ukeyMatch: flags.ukeyMatch,
      },
      {
        stdout: io.stdout,
        stderr: io.stderr,
        env,
        stdoutIsTerminal: io.stdoutIsTerminal,
        stderrIsTerminal: io.stderrIsTerminal,
      },
    );
  },
});
