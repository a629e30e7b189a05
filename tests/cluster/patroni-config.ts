/** The settings of packaging/patroni, with the addresses and folders of the machines here. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { NETWORK } from './machine.ts';

/** The keys of patroni.yml that are read or replaced here; all others are used as they are. */
interface PatroniSettings {
  readonly restapi: object;
  readonly bootstrap: { readonly dcs: { readonly ttl: number } };
  readonly postgresql: object;
}

/** Where a member runs. */
export interface Place {
  readonly name: string;
  /** IP address. */
  readonly address: string;
  /** HOST:PORT of etcd. */
  readonly etcd: string;
  /** The folder for its data. */
  readonly home: string;
  /** The folder with the programs of PostgreSQL. */
  readonly programs: string;
}

export const SERVER_PORT = 5432;
export const PATRONI_PORT = 8008;
/** All machines. */
const CLIENTS = `${NETWORK}.0/24`;

const packaged = parse(
  readFileSync(join(import.meta.dirname, '../../packaging/patroni/patroni.yml'), 'utf8'),
) as PatroniSettings;

/** Seconds after which a leader that is silent loses its place. */
export const TTL = packaged.bootstrap.dcs.ttl;

/** The configuration of a member as JSON, which is YAML too. Without TLS and passwords: no other machine reaches this network. */
export function patroniConfig({ name, address, etcd, home, programs }: Place): string {
  const api = `${address}:${PATRONI_PORT}`;
  const server = `${address}:${SERVER_PORT}`;
  return JSON.stringify({
    ...packaged,
    name,
    restapi: { listen: api, connect_address: api },
    etcd: { host: etcd },
    postgresql: {
      ...packaged.postgresql,
      listen: server,
      connect_address: server,
      data_dir: join(home, 'data'),
      bin_dir: programs,
      pgpass: join(home, 'pgpass'),
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'replicator' } },
      pg_hba: ['local all all trust', `host all all ${CLIENTS} trust`, `host replication all ${CLIENTS} trust`],
      parameters: { unix_socket_directories: home },
    },
  });
}
