/**
 * A task of the Windows Task Scheduler, written from Microsoft's documentation of the task schema and schtasks and never run
 * there. It starts the daemon in the background, so that no window stays open.
 */
import { join } from 'node:path';
import { homeFiles } from '../../../../contract/local.ts';
import { marker, type Service, type ServiceFacts, xml } from './service.ts';

const task = 'devmgr';

/** The daemon as a scheduled task, which starts when its user logs in. */
export function scheduledTask(facts: ServiceFacts): Service {
  const file = join(facts.home, 'devmgr-task.xml');
  const [program = '', ...rest] = facts.program;
  return {
    system: 'Task Scheduler',
    tested: false,
    file,
    text: taskText(facts),
    encoding: 'utf16le',
    probe: ['schtasks', '/Query'],
    running: ['schtasks', '/Query', '/TN', task],
    start: [
      ['schtasks', '/Create', '/TN', task, '/XML', file, '/F'],
      ['schtasks', '/Run', '/TN', task],
    ],
    // The daemon runs on after the task that started it.
    stop: [
      ['schtasks', '/Delete', '/TN', task, '/F'],
      [program, ...rest, 'stop', '--home', facts.home],
    ],
    forget: [],
    later: `as this user: schtasks /Create /TN ${task} /XML "${file}"`,
    log: join(facts.home, homeFiles.log),
  };
}

function taskText({ program: [file = '', ...rest], args, home, userName }: ServiceFacts): string {
  const words = [...rest, 'start', '--home', home, ...args].map(windowsWord).join(' ');
  const user = xml(userName);
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>${marker}</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>${user}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${user}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${xml(file)}</Command>
      <Arguments>${xml(words)}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
}

/** A word of a Windows command line: backslashes are special only before a quote. */
function windowsWord(word: string): string {
  if (word !== '' && !/[\s"]/.test(word)) return word;
  const quoted = word.replace(/\\+|"/g, (found, at: number) => {
    if (found === '"') return '\\"';
    const next = word[at + found.length];
    return next === undefined || next === '"' ? found + found : found;
  });
  return `"${quoted}"`;
}
