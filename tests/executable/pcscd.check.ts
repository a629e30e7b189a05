import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { uicc } from '../support/vcard.ts';
import { BareRoot } from './root.ts';

withPcscd('the executable, where the library of PC/SC is all there is beside the C library', () => {
  const bare = new BareRoot();
  let pcscd: Pcscd;
  beforeAll(async () => {
    const libraries = execFileSync('ldconfig', ['-p'], { encoding: 'utf8' });
    bare.addLibrary(/=> (\S*libpcsclite\.so\.1)$/m.exec(libraries)![1]!);
    pcscd = await startPcscd();
  });
  afterAll(async () => {
    await pcscd?.stop();
    bare.remove();
  });

  it('enrolls a SIM card through a real pcscd', async () => {
    await pcscd.insert(uicc({ iccid: '89860123456789012345' }));
    const { code, stdout, stderr } = await bare.run(
      `devmgr daemon start --port 0 --quiet
       devmgr login admin --password-file /home/.local/share/devmgr/initial-admin-password --quiet
       devmgr enroll --count 1 --timeout 45 --json
       devmgr list --json
       devmgr daemon stop`,
      {
        bind: { from: join(pcscd.home, 'run'), to: '/pcscd' },
        env: { PCSCLITE_CSOCK_NAME: '/pcscd/pcscd.comm' },
      },
    );
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout.match(/"serialNumber":"89860123456789012345"/g)).toHaveLength(2);
  });
});
