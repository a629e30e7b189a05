/** What is known about the genuineness of a key. */
import type { Proof } from '../../../src/contract/proof.ts';
import { GradeBadge } from '../../parts/badge.tsx';
import { Moment } from '../../parts/time.tsx';
import { dictionary } from '../../text/text.ts';
import { Fact } from './facts.tsx';

const deviceWords = dictionary('device');

/** The grade with its meaning, what the evidence shows, and the warnings. */
export function ProofSection({ proof }: { readonly proof: Proof | null }) {
  const words = deviceWords.value.proof;
  const plain = ['model', 'serial', 'firmware', 'aaguid', 'method', 'root', 'metadataNumber'] as const;
  return (
    <section>
      <h2>{words.title}</h2>
      {proof ? (
        <>
          <p>
            <GradeBadge grade={proof.grade} /> {words.grades[proof.grade]}
          </p>
          {proof.warnings.length > 0 && (
            <ul class="warnings" aria-label={words.warnings}>
              {proof.warnings.map(warning => (
                <li key={warning}>{warning}</li>
              ))}
            </ul>
          )}
          <dl class="facts">
            {plain.map(name => (
              <Fact key={name} name={words[name]}>
                {proof[name]}
              </Fact>
            ))}
            <Fact name={words.provedAt}>{proof.provedAt && <Moment at={proof.provedAt} />}</Fact>
          </dl>
        </>
      ) : (
        <p class="hint">{words.without}</p>
      )}
    </section>
  );
}
