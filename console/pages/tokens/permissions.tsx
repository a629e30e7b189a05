/** What a token may do besides its role. */
import { type TokenPermission, tokenPermissions } from '../../../src/contract/values.ts';
import { dictionary } from '../../text/text.ts';

const tokenWords = dictionary('tokens');

interface PermissionsProps {
  readonly value: readonly TokenPermission[];
  readonly onChange: (chosen: TokenPermission[]) => void;
}

/** A box for each permission. */
export function Permissions({ value, onChange }: PermissionsProps) {
  const words = tokenWords.value;
  const toggle = (permission: TokenPermission) =>
    onChange(tokenPermissions.filter(each => value.includes(each) !== (each === permission)));
  return (
    <fieldset class="choices">
      <legend>{words.permissions}</legend>
      {tokenPermissions.map(permission => (
        <label key={permission}>
          <input type="checkbox" checked={value.includes(permission)} onChange={() => toggle(permission)} />
          {words.permission[permission]}
        </label>
      ))}
    </fieldset>
  );
}
