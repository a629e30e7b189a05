/** Devices, their export and their figures. */
import type { StartSubject } from '../http/subject.ts';
import { DeviceExport } from './export.ts';
import type { IdentityJudge, IssuedKeyFinder, OwnerJudge, PersonNames, ProofJudge, SshKeyFinder } from './judges.ts';
import { deviceOperations } from './routes.ts';
import { DeviceService } from './service.ts';
import { statisticsAt } from './statistics.ts';

declare module '../http/subject.ts' {
  interface Offers {
    /** Absent: devices are bound to anyone. */
    ownerJudge?: OwnerJudge;
    /** Absent: devices are known by their serial numbers. */
    identityJudge?: IdentityJudge;
    /** Absent: keys have no credentials at providers. */
    issued?: IssuedKeyFinder;
    /** Absent: keys have no SSH keys. */
    sshKeys?: SshKeyFinder;
    /** Absent: devices have no persons. */
    personNames?: PersonNames;
    /** Absent: nothing is required of new keys. */
    proofJudge?: ProofJudge;
  }
}

/** Without the subject of proofs nothing is required of new keys. */
const admitsAll: ProofJudge = {
  admitting: (_, attempt) => attempt({ guards: [], judge: () => ({ proof: null }) }),
  identityPolicy: async () => 'never',
  standing: async () => () => true,
};

export const startDevices: StartSubject = ({ store, access, now, offers }) => {
  const { passwords, guessing, stepUp } = offers.accounts;
  const policies = offers.proofJudge ?? admitsAll;
  const { ownerJudge: owners, identityJudge: identities } = offers;
  const judges = { policies, ...(owners && { owners }), ...(identities && { identities }) };
  const devices = new DeviceService({ store, passwords, guessing, ...judges, now, access });
  return {
    operations: deviceOperations({
      devices,
      exports: new DeviceExport(store, offers.personNames),
      statistics: () => statisticsAt(store, now()),
      events: offers.events,
      stepUp,
    }),
    gauges: async () => {
      const { total } = await store.devices({ sortBy: 'createTime', descending: true, offset: 0, limit: 1 });
      return { devmgr_devices: { help: 'Devices registered', value: total } };
    },
  };
};
