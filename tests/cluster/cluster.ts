/** The whole cluster: database, proxy, three registry daemons, clients and streams. */
import { mkdirSync } from 'node:fs';
import { adminPassword } from '../support/daemon.ts';
import { runProgram } from '../support/program.ts';
import { DatabaseCluster } from './database.ts';
import { compare, lastPublished } from './journal.ts';
import { type DeviceList, Load } from './load.ts';
import { createNetwork, Machine } from './machine.ts';
import { API_PORT, startProxy } from './proxy.ts';
import { RegistryNode } from './registry-node.ts';
import { Requests, type Write } from './requests.ts';
import { type Chance, until } from './waiting.ts';
import { Watcher } from './watcher.ts';

const CLIENTS = 64;
/** Seconds for which streams may be behind when the clients pause. */
const CATCH_UP_S = 60;

/** The findings of the checks after a phase. */
export interface Checked {
  readonly entries: number;
  readonly devices: number;
  readonly faults: readonly string[];
}

export class Cluster {
  readonly folder: string;
  readonly chance: Chance;
  readonly databases: DatabaseCluster;
  readonly nodes: readonly RegistryNode[];
  /** The machine of the proxy. */
  readonly proxy: Machine;
  readonly requests: Requests;
  readonly load: Load;
  readonly #watchers: Watcher[] = [];
  /** When the fault began that writes must survive, by `performance.now()`. */
  faultAt = 0;
  /** Size of the files that are uploaded. */
  fileMiB = 64;
  /** Id of the last entry that was compared. */
  #compared = 0;

  private constructor(folder: string, chance: Chance, parts: Pick<Cluster, 'databases' | 'nodes' | 'proxy'>) {
    this.folder = folder;
    this.chance = chance;
    this.databases = parts.databases;
    this.nodes = parts.nodes;
    this.proxy = parts.proxy;
    this.requests = new Requests(this.url);
    this.load = new Load(this.requests, chance, CLIENTS);
  }

  /** The address of the registry for clients. */
  get url(): string {
    return `http://${this.proxy.address}:${API_PORT}`;
  }

  static async start(folder: string, chance: Chance): Promise<Cluster> {
    createNetwork();
    const databases = await DatabaseCluster.start(folder);
    const proxy = new Machine('proxy', 30, folder);
    const nodes = [1, 2, 3].map(number => new RegistryNode(number, folder, proxy));
    const machines = nodes.map(({ machine }) => machine);
    startProxy(folder, proxy, databases, machines);
    await until('the primary behind the proxy', 30, () => databases.isOnlyPrimary(proxy));
    await nodes[0]!.init();
    for (const node of nodes) node.start();
    await Promise.all(nodes.map(node => node.ready()));
    const cluster = new Cluster(folder, chance, { databases, nodes, proxy });
    await cluster.#begin();
    return cluster;
  }

  /** Runs a fault under load. Resolves with the writes of the clients since then. */
  async under(fault: () => Promise<void>): Promise<readonly Write[]> {
    const begun = performance.now();
    this.faultAt = begun;
    await fault();
    return this.requests.writes.filter(({ acknowledged }) => acknowledged >= begun);
  }

  /** Resolves when a write that was sent from now on is acknowledged. */
  async resumed(seconds: number): Promise<void> {
    const begun = performance.now();
    await until('a write', seconds, () => this.requests.writes.some(({ sent }) => sent >= begun));
  }

  /** Pauses the clients, and checks everything that they and the streams have received. */
  async check(): Promise<Checked> {
    await this.load.stop();
    await Promise.all(this.nodes.map(node => node.ready()));
    await this.load.registerLast();
    const query = (sql: string) => this.databases.query(sql);
    const last = await lastPublished(query);
    const faults = this.load.faults.splice(0);
    const behind = () => this.#watchers.filter(watcher => watcher.last < last);
    await until('the streams', CATCH_UP_S, () => behind().length === 0).catch(() => {
      for (const { name, last: has } of behind()) faults.push(`${name} has event ${has}, not ${last}`);
    });
    const changed = this.load.takeChanged();
    const received = this.#watchers.map(watcher => ({ name: watcher.name, frames: watcher.take() }));
    const from = this.#compared;
    const comparison = await compare(query, from, changed, received);
    this.#compared = comparison.last;
    faults.push(...comparison.faults, ...(await this.#total()), ...(await this.#programs()));
    this.load.start();
    return { entries: comparison.last - from, devices: changed.size, faults };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#watchers.map(watcher => watcher.stop()));
    await this.requests.close();
  }

  async #begin(): Promise<void> {
    const { requests } = this;
    const login = { username: 'admin', password: adminPassword };
    requests.token = (await requests.write<{ token: string }>('POST', '/api/auth/login', login)).token;
    const [row] = await this.databases.query('SELECT event::int FROM head');
    this.#compared = row!.event as number;
    const watch = (name: string, url: string) =>
      this.#watchers.push(new Watcher(name, url, requests.token, this.#compared));
    for (const { machine, url } of this.nodes) watch(`the stream of ${machine.name}`, url);
    for (const i of [1, 2, 3]) watch(`stream ${i} through the proxy`, this.url);
    this.load.start();
  }

  async #total(): Promise<readonly string[]> {
    const { pagination } = await this.requests.read<DeviceList>('/api/devices/list?size=1');
    const { devices } = this.load;
    return pagination.total === devices ? [] : [`the registry has ${pagination.total} devices, not ${devices}`];
  }

  /** `daemon check` and `daemon audit --verify` find nothing. */
  async #programs(): Promise<readonly string[]> {
    const home = `${this.folder}/home`;
    mkdirSync(home, { recursive: true });
    const faults: string[] = [];
    for (const args of [
      ['daemon', 'check'],
      ['daemon', 'audit', '--verify'],
    ]) {
      const { code, stdout, stderr } = await runProgram(args, { home, env: this.nodes[0]!.env });
      if (code !== 0) faults.push(`devmgr ${args.join(' ')} ends with ${code}: ${stdout}${stderr}`);
    }
    return faults;
  }
}
