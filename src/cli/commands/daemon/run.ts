import { daemonRoles, defaultHost, defaultPort, maxDrainSeconds, stepUpModes } from '../../../contract/local.ts';
import { command } from '../../framework/define.ts';
import { type FlagShapes, fileFlag } from '../../framework/flags.ts';
import { programIo } from './store.ts';

/** Flags of the commands that start a daemon. */
export const daemonFlags = {
  host: { value: 'HOST', help: `address to listen on (default: ${defaultHost})` },
  port: {
    value: 'PORT',
    whole: { min: 0, max: 65_535 },
    help: `port to listen on (default: ${defaultPort}); 0 picks a free one`,
  },
  role: {
    value: 'ROLE',
    choices: daemonRoles,
    help: 'what the daemon serves: a registry, the keys of a station, or both (default: all)',
  },
  node: { value: 'NAME', help: 'name of this daemon in responses, log and metrics (default: the host name)' },
  drain: {
    value: 'SECONDS',
    whole: { min: 0, max: maxDrainSeconds },
    help: 'when stopping, still serve requests for this time, while health reports not ready (default: 0)',
  },
  'simulate-keys': {
    value: 'N',
    whole: { min: 0, max: 1000 },
    help: 'add N simulated keys, which are marked as simulated',
  },
  'tls-cert': fileFlag('certificate chain for HTTPS (PEM)'),
  'tls-key': fileFlag('private key of the certificate (PEM)'),
  'insecure-http': { help: 'serve a network over HTTP, without TLS' },
  'trust-proxy': { value: 'CIDR', many: true, help: 'trust X-Forwarded-For from this network' },
  'allow-host': { value: 'NAME', many: true, help: 'another host name that clients can use' },
  'no-console': { help: 'do not serve the console for browsers' },
  'webhook-allow': {
    value: 'NETWORK',
    many: true,
    help: 'network, address or host name that webhooks can use without HTTPS or on an internal network (default: none)',
  },
  'public-url': {
    value: 'URL',
    help: 'address that people open in a browser, if the daemon is behind a proxy or at another port; security keys are registered for it',
  },
  'step-up': {
    value: 'WHERE',
    choices: stepUpModes,
    help: 'sessions that need a recent sign-in to change users, tokens and policies (default: console)',
  },
  forward: { value: 'URL', help: 'forward the journal: syslog+tcp://, syslog+tls://, syslog+unix:// or https://' },
  store: { value: 'URL', help: 'keep the registry in PostgreSQL: postgres://USER@HOST:PORT/DATABASE' },
  secrets: { value: 'DIR', offer: 'file', help: 'keep the keys in this folder, outside the home folder' },
  files: { value: 'URL', help: 'store files in an object store: s3://BUCKET/PREFIX?endpoint=URL&region=NAME' },
  'ukey-match': { value: 'VID:PID', many: true, help: 'also treat these USB devices as keys (hex; VID or VID:PID)' },
} as const satisfies FlagShapes;

/** Runs the daemon in this process until SIGTERM or Ctrl-C. */
export const daemonRun = command({
  description:
    'Stops on SIGTERM or Ctrl-C. With --json the log is written to standard output as JSON lines, and one of them is {"event":"listening","url":"http://127.0.0.1:PORT"}.',
  flags: daemonFlags,
  examples: [
    { does: 'on this machine', line: 'daemon run' },
    { does: 'for a network', line: 'daemon run --host 0.0.0.0 --tls-cert chain.pem --tls-key key.pem' },
    { does: 'for a test', line: 'daemon run --port 0 --json --home /tmp/home --simulate-keys 2' },
  ],
  run({ flags }, context) {
    const { programs, settings, globals } = context;
    const { home } = settings;
    const { json, verbose } = globals;
    const { host = defaultHost, port = defaultPort, simulateKeys = 0, allowHost: allowHosts } = flags;
    const options = { ...flags, home, json, verbose, host, port, simulateKeys, allowHosts };
    return programs.run(options, programIo(context));
  },
});
