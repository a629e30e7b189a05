/** A launch agent on macOS, written from Apple's documentation (launchd.plist(5), launchctl(1)) and never run there. */
import { join } from 'node:path';
import { homeFiles } from '../../../../contract/local.ts';
import { marker, type Service, type ServiceFacts, xml } from './service.ts';

const label = 'devmgr.daemon';

/** The daemon as a launch agent, which starts when its user logs in. */
export function launchdService(facts: ServiceFacts): Service {
  const file = join(facts.userHome, 'Library', 'LaunchAgents', `${label}.plist`);
  const domain = `gui/${facts.userId}`;
  return {
    system: 'launchd',
    tested: false,
    file,
    text: plist(facts),
    encoding: 'utf8',
    probe: ['launchctl', 'print', domain],
    running: ['launchctl', 'print', `${domain}/${label}`],
    // An agent that is already loaded cannot be loaded again; unloading one that is not loaded fails, which does not matter.
    start: [
      ['sh', '-c', `launchctl bootout ${domain}/${label} 2>/dev/null; exit 0`],
      ['launchctl', 'bootstrap', domain, file],
    ],
    stop: [['launchctl', 'bootout', `${domain}/${label}`]],
    forget: [],
    later: `log in at the screen of this machine: launchd starts it then`,
    log: join(facts.home, homeFiles.log),
  };
}

function plist({ program, args, home }: ServiceFacts): string {
  const words = [...program, 'run', '--home', home, '--json', ...args];
  const log = xml(join(home, homeFiles.log));
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${marker} -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${label}</string>
  <key>ProgramArguments</key>
  <array>
${words.map(word => `    <string>${xml(word)}</string>`).join('\n')}
  </array>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>10</integer>
  <key>ExitTimeOut</key><integer>20</integer>
  <key>ProcessType</key><string>Background</string>
  <key>Umask</key><integer>63</integer>
  <key>StandardOutPath</key><string>${log}</string>
  <key>StandardErrorPath</key><string>${log}</string>
</dict>
</plist>
`;
}
