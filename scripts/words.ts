// Words and turns that a native technical writer would not use, each with a replacement and the reason. `node scripts/words.ts`
// reads every text of the project (sources with their comments and messages, tests, pages) and fails on each one that it finds.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A pattern to avoid, judged line by line and in any case. */
export interface WordRule {
  readonly pattern: RegExp;
  /** The text to write instead. */
  readonly write: string;
  readonly because: string;
}

/** A line that breaks a rule. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly found: string;
  readonly rule: WordRule;
}

const archaic = 'nobody says it in this field any more';
const calque = 'it is a word-for-word translation';
const vague = 'the reader cannot tell what happens';

const rule = (pattern: RegExp, write: string, because: string): WordRule => ({ pattern, write, because });

/** The list. Add a line if a text made a reader stop; remove one only together with its reason. */
export const rules: readonly WordRule[] = [
  rule(/\banew\b/i, 'again', archaic),
  rule(/\b(wherefore|thereof|therein|whosoever|hitherto|henceforth)\b/i, 'a plain word', archaic),
  rule(/\bwhoever\b/i, 'anyone who, a client that', archaic),
  rule(
    /(?<!['`])\bnobody\b/i,
    'no one, or say what is missing',
    'it is not a person that is missing but a reader, a process or a client',
  ),
  rule(/\b(?:is|are|was|were|be|been) told\b/i, 'is reported, is notified, receives', calque),
  rule(/\btold apart\b/i, 'distinguished', calque),
  rule(/\bmend(?:s|ed|ing)?\b/i, 'fix', 'clothes are mended; programs are fixed'),
  rule(/\bthe own\b/i, 'your own, its own', calque),
  rule(/\beverybody sets\b/i, 'users change', calque),
  rule(/\bstands? (?:in|at|on|here|there|twice|behind)\b/i, 'is in, appears in', calque),
  rule(/\bstood (?:in|at|on|here|there)\b/i, 'was in', calque),
  rule(
    /(?<!\bthere )\b(?:is|are) no (?!longer\b|more\b|one\b|such\b|need\b|way\b|room\b|different\b|better\b|worse\b|faster\b|slower\b|point\b|reason\b|use\b)[a-z]+\b/i,
    'is not a, is not valid',
    calque,
  ),
  rule(/\bgo(?:es)? on\b/i, 'continues', calque),
  rule(/\bmeanwhile\b/i, 'at the same time, since then, during the …', 'it leaves open during what'),
  rule(/\bsays\b/i, 'reports, shows, records, contains, explains', 'people say; programs, files and messages report'),
  rule(/\bso far\b/i, 'name the state: received, sent, before this line', vague),
  rule(/\bfor good\b/i, 'permanently', calque),
  rule(/\bwants? no\b/i, 'refuses, does not need', 'things do not want'),
  rule(/\bsum(?:s|med)? up\b/i, 'summarizes, counts', calque),
  rule(/\bhas come\b/i, 'has arrived, the progress of', calque),
  rule(/\bby (?:itself|themselves)\b/i, 'on its own, automatically, alone, separately', calque),
  rule(/\bgoes? along\b/i, 'is sent with, is included', vague),
  rule(/\bpass(?:ed|es)? over\b/i, 'skipped, ignored', 'a field is ignored, a row is skipped'),
  rule(/\bset aside\b/i, 'staged, kept as a copy', vague),
  rule(/\bpulled out of\b/i, 'unplugged from', calque),
  rule(
    /\bin any case\b(?! of)/i,
    'in upper or lower case; always',
    'it means "always" to one reader and "upper or lower case" to another',
  ),
  rule(/\b(?:lies|lie|lay) (?:in|at|on|beside|open)\b/i, 'is in, is at', calque),
  rule(
    /\bwhere (?:there|that|it|they|none) (?:is|are|was|were)\b/i,
    'if there is',
    '"where" is for places, "if" for conditions',
  ),
  rule(/\bthe system has for\b/i, 'the system uses for', calque),
  rule(/\b(?:keys|drivers?|devices?|programs?|commands?) wants?\b/i, 'needs', 'things do not want'),
  rule(/\bto be had\b/i, 'available', archaic),
  rule(/\bbrought about\b/i, 'caused', archaic),
  rule(/\bby its name\b/i, 'has no recognized …', calque),
  rule(/\b(?:stays|is|are) good (?:until|for|again)\b/i, 'valid until', 'tokens are valid, not good'),
  rule(/\bhas (?:the system|it) start\b/i, 'starts automatically', calque),
  rule(/\bhand(?:s|ed)? (?:over|out)\b/i, 'passes, returns, issues', vague),
  rule(/\bmakings\b/i, 'fixtures', calque),
  rule(/\bdiary\b/i, 'logger, log', 'the field calls it a log'),
  rule(/\bknock(?:s|ing)? at\b/i, 'connects to', vague),
  rule(/\bhalf of a\b/i, 'part of a, an incomplete', calque),
  rule(/\bwhat has come of\b/i, 'the result of', calque),
  rule(/\bthe one that is there\b/i, 'the existing one', calque),
  rule(/\bwhat (?:has become|becomes|became) of\b/i, 'the outcome of, what happens to', calque),
  rule(/\bsigned (?:no one|nobody) in\b/i, 'refused the sign-in', calque),
  rule(/\bis perhaps\b/i, 'may be', calque),
  rule(/\bas (?:it|they) should\b/i, 'is valid, works, is expected', vague),
  rule(/\bhears? of\b/i, 'receives a request about', 'services do not hear'),
  rule(/\bwhat (?:is worked with|[^,;]{1,40} works? with[.:])/i, 'dependencies of', vague),
  rule(/\bwhich is the most\b/i, 'the maximum', calque),
  rule(/\ban? \w+ of age\b/i, 'an age …', 'age is the name of a program'),
  rule(/\baudit log\b/i, 'journal', 'one thing has one name'),
  rule(/\bhand-overs?\b/i, 'handover', 'one thing has one name'),
];

/** Rules for comments of code, judged with the line before: a comment names its subject, and fits on a screen. */
const commentRules: readonly WordRule[] = [
  rule(
    /(?:\n\s*\/\*\*? |\/\*\*\n\s*\* |^(?!\s*\/\/).*\n\s*\/\/ )(?:The same|Likewise|Those|That one|See)\b/,
    'the name of the subject',
    'a comment is read without the one before it',
  ),
  rule(/\n(?=.{141})\s*(?:\/\/|\/?\*).*/, 'lines of at most 140 characters', 'the end of the line is not seen'),
];
const code = /\.(?:ts|tsx|mts|mjs)$/;

/** Files whose words are somebody else's, or that quote the list. */
const leftOut =
  /^(?:package-lock\.json|LICENSE|scripts\/words\.ts|tests\/lint\/words\.test\.ts|docs\/images\/|tests\/lab\/guest\/)/;
const texts = /\.(?:ts|tsx|mts|mjs|md|css|rules|service|sh|conf|html)$|^packaging\/debian\//;

/** Every place in a text that breaks a rule. `file` is only named in the result. */
export function findingsIn(file: string, text: string): Finding[] {
  const judged = code.test(file) ? commentRules : [];
  return text.split('\n').flatMap((line, index, lines) => {
    const found = (rule: WordRule, words: string): Finding[] => {
      const match = rule.pattern.exec(words);
      return match ? [{ file, line: index + 1, found: match[0].trim(), rule }] : [];
    };
    const pair = `${lines[index - 1] ?? ''}\n${line}`;
    return [...rules.flatMap(rule => found(rule, line)), ...judged.flatMap(rule => found(rule, pair))];
  });
}

/** Files of the project that git tracks or would track, as paths in it. */
function textFiles(root: string): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed.split('\n').filter(name => texts.test(name) && !leftOut.test(name));
}

if (import.meta.main) {
  const root = process.argv[2] ?? dirname(import.meta.dirname);
  const found = textFiles(root).flatMap(name => findingsIn(name, readFileSync(join(root, name), 'utf8')));
  for (const { file, line, found: words, rule } of found)
    console.error(`${file}:${line} "${words}": write ${rule.write} (${rule.because})`);
  if (found.length > 0) console.error(`${found.length} places to rewrite`);
  process.exitCode = found.length > 0 ? 1 : 0;
}
