/** The phases. Each has one kind of fault, how often it happens, and how soon writes must succeed again. */
import type { Cluster } from '../cluster.ts';
import { endWaitingBackend } from './backends.ts';
import { wrongClock, wrongDatabaseClock } from './clocks.ts';
import { cutNode, cutStandby } from './network.ts';
import { nodeFault } from './nodes.ts';
import { freezePatroni, killPrimary, switchOver } from './primary.ts';
import { revokeEverywhere } from './revocation.ts';
import { upgradeNodes } from './upgrade.ts';
import { killInUpload } from './upload.ts';

export interface Phase {
  readonly name: string;
  readonly what: string;
  /** How often it happens by default, and with `--full`. */
  readonly times: number;
  readonly full: number;
  /** Seconds within which a write must be acknowledged again. */
  readonly limit: number;
  /** Causes the fault. Resolves with a text for the report when every part of the cluster works again. */
  readonly fault: (cluster: Cluster, i: number) => Promise<string>;
}

const NODE_S = 3;
const PRIMARY_S = 30;

export const phases: readonly Phase[] = [
  {
    name: 'nodes',
    what: 'a node is killed or stopped for some seconds',
    times: 6,
    full: 50,
    limit: NODE_S,
    fault: nodeFault,
  },
  { name: 'primary', what: 'the primary is lost', times: 1, full: 10, limit: PRIMARY_S, fault: killPrimary },
  { name: 'switchover', what: 'planned switchover', times: 1, full: 10, limit: PRIMARY_S, fault: switchOver },
  { name: 'cut-node', what: 'a node is cut from the primary', times: 1, full: 6, limit: NODE_S, fault: cutNode },
  {
    name: 'cut-standby',
    what: 'the primary is cut from its standby',
    times: 1,
    full: 6,
    limit: PRIMARY_S,
    fault: cutStandby,
  },
  {
    name: 'backends',
    what: 'a backend ends in the wait for the standby',
    times: 2,
    full: 12,
    limit: PRIMARY_S,
    fault: endWaitingBackend,
  },
  { name: 'clocks', what: 'the clock of a node is 10 min off', times: 2, full: 6, limit: NODE_S, fault: wrongClock },
  {
    name: 'database-clock',
    what: 'the clock of the primary is 10 min off',
    times: 1,
    full: 4,
    limit: PRIMARY_S,
    fault: wrongDatabaseClock,
  },
  {
    name: 'frozen',
    what: 'Patroni is stopped for longer than its TTL',
    times: 1,
    full: 3,
    limit: PRIMARY_S,
    fault: freezePatroni,
  },
  {
    name: 'revocation',
    what: 'rights are revoked on one node',
    times: 2,
    full: 10,
    limit: NODE_S,
    fault: revokeEverywhere,
  },
  {
    name: 'upload',
    what: 'a node is killed at every stage of an upload to an object store',
    times: 1,
    full: 1,
    limit: NODE_S,
    fault: killInUpload,
  },
  {
    name: 'upgrade',
    what: 'each node is replaced by the next release, which changes the schema',
    times: 1,
    full: 3,
    limit: NODE_S,
    fault: upgradeNodes,
  },
];
