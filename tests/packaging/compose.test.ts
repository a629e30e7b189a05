/** The containers run commands that the program accepts, with variables that it reads, behind the delivered HAProxy. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { commandTable } from '../../src/cli/commands/index.ts';
import { variables } from '../../src/cli/framework/environment.ts';
import { createProgram } from '../../src/cli/framework/program.ts';

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly pull_policy?: string;
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly secrets?: readonly (string | { readonly source: string; readonly target: string })[];
  readonly volumes?: readonly string[];
  readonly networks: Readonly<Record<string, { readonly ipv4_address?: string }>> | readonly string[];
  readonly extra_hosts?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly healthcheck?: Readonly<Record<string, unknown>> & { readonly test?: readonly string[] };
  readonly stop_grace_period?: string;
}

const packaged = join(import.meta.dirname, '../../packaging');
const text = (name: string) => readFileSync(join(packaged, name), 'utf8');
const compose = parse(text('compose.yaml'), { merge: true });
const services: Readonly<Record<string, Service>> = compose.services;
const all = Object.entries(services);
const ours = all.filter(([, { image }]) => image.startsWith('devmgr:'));
const nodes = ours.filter(([name]) => name.startsWith('node-'));
const addressOf = ({ networks }: Service) => ('front' in networks ? networks.front!.ipv4_address : undefined);

/** Rejects if the program does not accept the words. */
async function accept(words: readonly string[]): Promise<void> {
  let help = '';
  const write = (more: string) => {
    help += more;
  };
  const parts = { endings: [], columns: 80, paint: (_: unknown, shown: string) => shown, write, say: write };
  await createProgram({ table: commandTable, ...parts, act: () => Promise.resolve() }).run([...words]);
  expect(help).toBe('');
}

it('has three daemons, and one service that prepares the registry', () => {
  expect(nodes.map(([name]) => name)).toEqual(['node-1', 'node-2', 'node-3']);
  expect(ours.map(([name]) => name)).toEqual(['init', 'node-1', 'node-2', 'node-3']);
});

describe.each(ours)('%s', (_, { command, environment, healthcheck }) => {
  it('runs commands that the program accepts', async () => {
    await accept(command);
    if (healthcheck?.test) await accept(healthcheck.test.slice(2));
  });

  it('has only variables that the program reads', () => {
    const known = new Set(variables.map(({ name }) => name));
    expect(Object.keys(environment!).filter(name => !known.has(name))).toEqual([]);
  });
});

it('the check of commands refuses a flag that the program does not have', async () => {
  await expect(accept(['daemon', 'run', '--trusted-proxy', '10.90.0.10/32'])).rejects.toThrow(/trusted-proxy/);
});

describe.each(nodes)('%s', (name, service) => {
  it('has the name under which HAProxy asks for it, and trusts its address', () => {
    expect(service.environment).toMatchObject({ DEVMGR_NODE: name, DEVMGR_ROLE: 'registry' });
    expect(text('haproxy/registry.cfg')).toContain(`server ${name} ${name}:7470\n`);
    expect(services.balancer!.extra_hosts).toContain(`${name}:${addressOf(service)}`);
    const trusted = service.command[service.command.indexOf('--trust-proxy') + 1];
    expect(trusted).toBe(`${addressOf(services.balancer!)}/32`);
  });

  it('drains as long as the unit does, and has 20 s more to stop', () => {
    const drain = service.environment!.DEVMGR_DRAIN;
    expect(text('systemd/devmgr@.service')).toContain(`DEVMGR_DRAIN=${drain}\n`);
    expect(service.stop_grace_period).toBe(`${Number(drain) + 20}s`);
  });

  it('has its own home, and the same keys as the others', () => {
    const [home, keys] = service.volumes!;
    expect(home).toBe(`${name.replace('node', 'home')}:${service.environment!.DEVMGR_HOME}`);
    expect(keys).toBe(`keys:${services.init!.environment!.DEVMGR_SECRETS}`);
  });
});

it('HAProxy has the delivered configuration, with the certificate where that names it', () => {
  const { volumes, command, secrets } = services.balancer!;
  expect(volumes).toEqual([`./haproxy/registry.cfg:${command.at(-1)}:ro`]);
  const [certificate] = secrets!.flatMap(secret => (typeof secret === 'string' ? [] : secret.target));
  expect(text('haproxy/registry.cfg')).toContain(`ssl crt ${certificate} `);
});

describe.each(all)('%s', (_, service) => {
  it('is of one version, and writes only to volumes', () => {
    expect(service.image).toMatch(/:[\w.-]*\d[\w.-]*$/);
    expect(service.image).not.toMatch(/:latest/);
    expect(service.read_only).toBe(true);
  });

  it('gets secrets as files that are defined', () => {
    const named = (service.secrets ?? []).map(secret => (typeof secret === 'string' ? secret : secret.source));
    expect(named.filter(name => !(name in compose.secrets))).toEqual([]);
    const environment = Object.keys(service.environment ?? {});
    expect(
      environment.filter(name => /PASSWORD$|SECRET|TOKEN|_USER_?KEY/.test(name) && name !== 'DEVMGR_SECRETS'),
    ).toEqual([]);
    const read = Object.values(service.environment ?? {}).filter(value => String(value).startsWith('/run/secrets/'));
    expect(read.filter(value => !named.includes(String(value).slice('/run/secrets/'.length)))).toEqual([]);
  });

  it('uses networks and volumes that are defined', () => {
    const networks = Array.isArray(service.networks) ? service.networks : Object.keys(service.networks);
    expect(networks.filter((name: string) => !(name in compose.networks))).toEqual([]);
    const volumes = (service.volumes ?? []).filter(volume => !volume.startsWith('./'));
    expect(volumes.filter(volume => !(volume.split(':')[0]! in compose.volumes))).toEqual([]);
  });
});

it('only HAProxy can be reached from outside and reaches it', () => {
  const open = (name: string) => compose.networks[name].internal !== true;
  const namesOf = ({ networks }: Service) => (Array.isArray(networks) ? networks : Object.keys(networks));
  expect(all.filter(([, service]) => namesOf(service).some(open)).map(([name]) => name)).toEqual(['balancer']);
  expect(all.filter(([, { ports }]) => ports).map(([name]) => name)).toEqual(['balancer']);
});

it('is accepted by docker-compose 1.29 as well as by the specification: keys that one of them does not know are absent', () => {
  const topLevel = Object.keys(compose).filter(key => !key.startsWith('x-'));
  expect(topLevel).toEqual(['services', 'networks', 'volumes', 'secrets']);
  const known = new Set(['test', 'interval', 'timeout', 'start_period', 'retries', 'disable']);
  const checks = all.flatMap(([, { healthcheck }]) => Object.keys(healthcheck ?? {}));
  expect(checks.filter(key => !known.has(key))).toEqual([]);
  expect(text('.env')).toMatch(/^COMPOSE_PROJECT_NAME=devmgr$/m);
});

it('one service builds the image, and the image is pulled from nowhere', () => {
  expect(all.filter(([, { build }]) => build).map(([name]) => name)).toEqual(['init']);
  expect(services.init!.build).toEqual({ context: '..', dockerfile: 'packaging/Dockerfile' });
  expect(ours.map(([, service]) => service.pull_policy)).toEqual(ours.map(() => 'never'));
});

describe('the page', () => {
  const page = readFileSync(join(packaged, '../docs/three-nodes.md'), 'utf8');
  const files = Object.values<{ readonly file: string }>(compose.secrets).map(({ file }) => file.replace('./', ''));

  it('creates each secret, and no other file', () => {
    const created = [...page.matchAll(/(?: > |-keyout )(secrets\/\S+)/g)].map(([, name]) => name);
    expect(new Set(created)).toEqual(new Set(files));
  });

  it('gives the secrets of the daemons to their user', () => {
    const [, user] = /useradd --uid (\d+)/.exec(text('Dockerfile'))!;
    const own = services['node-1']!.secrets!.map(name => `secrets/${name}`);
    expect(page).toContain(`$ sudo chown ${user} ${own.join(' ')}\n`);
  });

  it('creates files that neither git nor the package of npm contains', () => {
    const ignored = readFileSync(join(packaged, '../.gitignore'), 'utf8').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['/packaging/secrets/', '/packaging/*.pem']));
    const manifest = JSON.parse(readFileSync(join(packaged, '../package.json'), 'utf8'));
    expect(manifest.files).toEqual(expect.arrayContaining(['!packaging/secrets', '!packaging/*.pem']));
  });
});

it('each lasting service has a health check', () => {
  const lasting = all.filter(([name]) => !['init', 'bucket'].includes(name));
  expect(lasting.filter(([, { healthcheck }]) => !healthcheck?.test).map(([name]) => name)).toEqual([]);
});

it('the image has the executable of the build, of one version, and is not run by root', () => {
  const image = text('Dockerfile');
  expect(text('Dockerfile.dockerignore')).toBe('*\n!dist/bin/devmgr-linux-x64\n');
  expect(image).toMatch(/^ARG BASE=debian:\d+\.\d+-slim\nFROM \$\{BASE\}$/m);
  expect(image).toMatch(/^COPY --chmod=755 dist\/bin\/devmgr-linux-x64 \/usr\/bin\/devmgr\nUSER devmgr$/m);
  const { version } = JSON.parse(readFileSync(join(packaged, '../package.json'), 'utf8'));
  expect(new Set(ours.map(([, service]) => service.image))).toEqual(new Set([`devmgr:${version}`]));
});
