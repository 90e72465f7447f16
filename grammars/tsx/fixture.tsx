import * as React from 'react';
import { Lamp } from './lamp';

/** What a room needs. */
type RoomProps = {
  lamps: Lamp[];
  onToggle?: (lamp: Lamp) => void;
};

export const MAX_LAMPS = 8;

/** A room full of lamps. */
export const Room: React.FC<RoomProps> = ({ lamps, onToggle }) => {
  const [on, setOn] = React.useState<boolean>(false);
  const toggle = (lamp: Lamp) => {
    setOn(!on);
    onToggle?.(lamp);
  };
  return (
    <Panel title="Room">
      {lamps.slice(0, MAX_LAMPS).map((lamp) => (
        <LampView key={lamp.id} lamp={lamp} onClick={() => toggle(lamp)} />
      ))}
    </Panel>
  );
};

export class Boundary extends React.Component<RoomProps> {
  state = { failed: false };

  componentDidCatch(error: Error): void {
    report(error);
  }

  render() {
    return this.state.failed ? <p>Dark</p> : this.props.children;
  }
}

function useLamps<T extends Lamp>(ids: string[]): T[] {
  return ids.map(findLamp) as T[];
}

export default memo(Room);
