/** What a registry without devices is for, and the first steps. */
import { mayChange } from '../api/session.ts';
import { linkTo } from '../router.ts';
import { text, firstDevice as words } from '../text/words.ts';
import { Button } from './button.tsx';
import { addDevice } from './open.ts';

/** Stands where devices would. */
export const FirstDevice = () => (
  <>
    <p>{words.purpose}</p>
    {mayChange.value && (
      <p class="actions">
        <Button words={`${text.common.addDevice} …`} class="main" onClick={addDevice} />
        <a class="button" href={linkTo('import')}>
          {words.file}
        </a>
        <a class="button" href={linkTo('station')}>
          {words.station}
        </a>
      </p>
    )}
  </>
);
