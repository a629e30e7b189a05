/** The files for Patroni and etcd name the same machines, and keep what was committed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const packaged = join(import.meta.dirname, '../../packaging');
const text = (name: string) => readFileSync(join(packaged, name), 'utf8');
const patroni = parse(text('patroni/patroni.yml'));
const etcd = parseEnv(text('patroni/etcd.env'));
const machines = ['db-1', 'db-2', 'db-3'];

it('Patroni uses version 2 of etcd, which etcd has turned on', () => {
  expect(patroni.etcd.hosts.split(',')).toEqual(machines.map(name => `${name}:2379`));
  expect(patroni).not.toHaveProperty('etcd3');
  expect(etcd.ETCD_ENABLE_V2).toBe('true');
  expect(etcd.ETCD_INITIAL_CLUSTER!.split(',')).toEqual(machines.map(name => `${name}=http://${name}:2380`));
});

it('no commit is acknowledged by one server alone', () => {
  expect(patroni.bootstrap.dcs).toMatchObject({ synchronous_mode: true, synchronous_mode_strict: true });
});

it('a primary steps down before another one may be elected', () => {
  const { ttl, loop_wait, retry_timeout } = patroni.bootstrap.dcs;
  expect(ttl).toBeGreaterThanOrEqual(20);
  expect(loop_wait + 2 * retry_timeout).toBeLessThanOrEqual(ttl);
});

it('only encrypted connections come from other machines', () => {
  const rules: string[][] = patroni.postgresql.pg_hba.map((line: string) => line.split(' '));
  expect(patroni.postgresql.parameters.ssl).toBe('on');
  expect(rules.filter(([type, , , place]) => type === 'host' && place !== '127.0.0.1/32')).toEqual([]);
  expect(rules.filter(([type]) => type !== 'local').map(rule => rule.at(-1))).toEqual(Array(4).fill('scram-sha-256'));
});

it('HAProxy looks for the primary where Patroni answers', () => {
  const cfg = text('haproxy/postgres.cfg');
  const port = patroni.restapi.listen.split(':')[1];
  expect(cfg).toContain(`default-server check port ${port} `);
  for (const name of machines)
    expect(cfg).toContain(`server ${name} ${name}:${patroni.postgresql.listen.split(':')[1]}`);
});

it('each machine has its name and the passwords in a separate file', () => {
  const env = parseEnv(text('patroni/patroni.env'));
  expect(env.PATRONI_NAME).toBe(etcd.ETCD_NAME);
  const passwords = Object.keys(env).filter(name => name.endsWith('_PASSWORD'));
  expect(passwords.sort()).toEqual(['REPLICATION', 'RESTAPI', 'SUPERUSER'].map(user => `PATRONI_${user}_PASSWORD`));
});
