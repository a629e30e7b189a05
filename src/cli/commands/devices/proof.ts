/** Proofs of keys in words: what each grade means, and what it does not. */

import type { ProofGrade } from '../../../contract/key-values.ts';
import type { Proof } from '../../../contract/proof.ts';
import type { CardRow } from '../../framework/present.ts';
import type { Style } from '../../terminal/style.ts';
import { safe, textsIn } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';

/** Something that may have a proof. A server of an earlier version sends none. */
interface MaybeProved {
  readonly proof?: Proof | null;
}

interface ProofMeaning {
  /** Completes the name of the grade and a colon. */
  readonly words: string;
  readonly notProved: string | null;
}

const relay = 'that this key, and not a genuine one elsewhere, has answered: a relay cannot be detected';

const meanings: Readonly<Record<ProofGrade, ProofMeaning>> = {
  none: { words: 'nothing is known about this key', notProved: null },
  claimed: { words: 'nothing is proved; only the key itself reports this', notProved: null },
  model: {
    words: 'a genuine key of its model',
    notProved: `the serial number, which other keys of the model could claim; ${relay}`,
  },
  unit: { words: 'a genuine key with this serial number', notProved: relay },
  failed: { words: 'the evidence contradicts the key: do not use it', notProved: null },
};

/** Grades of keys that have proved something. */
const proved: readonly string[] = ['model', 'unit'] satisfies ProofGrade[];

/** Whether the key has proved its model or its serial number. */
export const isProved = (proof: Proof | null | undefined): boolean => proved.includes(proof?.grade ?? '');

/** The color of a grade; null if it has none. */
export const gradeStyle = (grade: string | null | undefined): Style | null =>
  proved.includes(grade ?? '') ? 'green' : grade === 'failed' ? 'red' : null;

/** The grade with its meaning. A newer server may send grades that this version does not know. */
const gradeWords = ({ grade }: Proof): string =>
  Object.hasOwn(meanings, grade) ? `${grade}: ${meanings[grade].words}` : safe(String(grade));

/** Lines of a card; none without a proof. */
export function proofRows({ proof }: MaybeProved): readonly CardRow[] {
  if (!proof) return [];
  return [
    ['proof', gradeWords(proof)],
    [isProved(proof) ? 'proved' : 'claimed', traitsOf(proof)],
    ['proved by', isProved(proof) ? sourceOf(proof) : null],
    ['not proved', Object.hasOwn(meanings, proof.grade) ? meanings[proof.grade].notProved : null],
    ['warnings', warningsOf(proof).join('\n') || null],
  ];
}

/** The proof in one line: grade, model, firmware. */
export const proofLine = (proof: Proof): string => [gradeWords(proof), traitsOf(proof)].filter(Boolean).join('; ');

/** The warnings of a proof, each in one line. */
export const warningsOf = ({ warnings }: Proof): readonly string[] => textsIn(warnings).map(warning => safe(warning));

/** Reports of evidence or of the key; null if there is none. */
function traitsOf({ model, aaguid, firmware, serial }: Proof): string | null {
  const parts = [
    model,
    aaguid && `AAGUID ${aaguid}`,
    firmware && `firmware ${firmware}`,
    serial && `serial number ${serial}`,
  ];
  return (
    parts
      .filter(Boolean)
      .map(part => safe(String(part)))
      .join(', ') || null
  );
}

function sourceOf({ method, provedAt, root, metadataNumber }: Proof): string {
  const parts = [
    method,
    provedAt && localTime(provedAt),
    root && `root ${root}`,
    metadataNumber === null || metadataNumber === undefined ? null : `FIDO metadata ${metadataNumber}`,
  ];
  return parts
    .filter(Boolean)
    .map(part => safe(String(part)))
    .join(', ');
}

/** A column with the grade, in lists that have one. */
export const proofColumn = <Row extends MaybeProved>(drop: number) => ({
  title: 'PROOF',
  value: ({ proof }: Row) => proof?.grade ?? null,
  style: ({ proof }: Row) => gradeStyle(proof?.grade),
  drop,
});
