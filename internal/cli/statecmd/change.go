package statecmd

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/state"
)

func pullCommand(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "pull",
		Usage: "Print the state as it is stored",
		Description: `
It prints the same JSON for every backend, including the steps of an apply that is running
or was killed. It contains no values of secrets.`,
		Flags: command.StateFlags(),
		Action: func(c *cli.Context) error {
			st, err := command.NewWorkspace(s, c).ReadState(c.Context)
			if err != nil {
				return err
			}
			if st.Fresh() {
				return failure.New("There is no state", "No apply has written one yet.")
			}
			raw, err := st.Encode()
			if err != nil {
				return err
			}
			_, err = s.Out.Write(raw)
			return err
		},
	}
}

func pushCommand(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "push",
		Usage:     "Replace the state with a file",
		ArgsUsage: "FILE",
		Description: `
FILE is the output of kolla state pull, or a backup; - is standard input. It must be a
newer version of the same state, unless you give -force. The replaced version is kept as a
backup.`,
		Flags: append(append(command.StateFlags(), command.LockFlags()...),
			&cli.BoolFlag{Name: "force", Usage: "also replace a different state or a newer version"}),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return failure.New("Which file?", "kolla state push FILE; kolla state pull prints one.")
			}
			name, source := c.Args().First(), c.Args().First()
			var raw []byte
			var err error
			if name == "-" {
				source = "standard input"
				raw, err = io.ReadAll(s.In)
			} else {
				raw, err = files.Read(name, files.MaxSize)
			}
			if err != nil {
				return fmt.Errorf("read the new state: %w", err)
			}
			next, err := state.Decode(name, raw)
			if err != nil {
				return err
			}
			return changing(s, c, "state push", func(session *state.Session) (string, error) {
				present := session.State()
				for _, err := range []error{present.CheckCloud(next.Cloud), present.CheckCluster(next.Cluster.UID, next.Cluster.Server)} {
					if err != nil && !c.Bool("force") {
						return "", err
					}
				}
				if err := session.Replace(next, c.Bool("force")); err != nil {
					return "", err
				}
				return "The state now has the content of " + source + ".", nil
			})
		},
	}
}

func removeCommand(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "Remove objects from the state; they stay in the cluster",
		ArgsUsage: "ADDRESS...",
		Description: `
A plan then finds these objects and refuses to touch them, because the state does not
know them. To stop managing an object for good, write a removed block with
lifecycle { destroy = false } instead, and apply.`,
		Flags: append(command.StateFlags(), command.LockFlags()...),
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return failure.New("Which objects?", "kolla state rm ADDRESS...; `kolla state list` lists the addresses.")
			}
			asked, err := command.Targets(c.Args().Slice())
			if err != nil {
				return err
			}
			return changing(s, c, "state rm", func(session *state.Session) (string, error) {
				found, err := command.Select(session.State(), asked)
				if err != nil {
					return "", err
				}
				var addresses []string
				for _, o := range found {
					addresses = append(addresses, o.Address)
				}
				if err := session.Forget(addresses...); err != nil {
					return "", err
				}
				return fmt.Sprintf("The state has forgotten %s.", words.Few(addresses, 20)), nil
			})
		},
	}
}

func moveCommand(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "mv",
		Usage:     "Change the address of objects in the state",
		ArgsUsage: "FROM TO",
		Description: `
FROM and TO are the addresses of two blocks, or of two objects of the same kind and name.
A moved block in the configuration does the same for everybody who uses it, and shows it
in the plan first.`,
		Flags: append(command.StateFlags(), command.LockFlags()...),
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return failure.New("From where to where?", "kolla state mv FROM TO; `kolla state list` lists the addresses.")
			}
			ends, err := command.Targets(c.Args().Slice())
			if err != nil {
				return err
			}
			move := addrs.Move{From: ends[0], To: ends[1]}
			if move.From.Whole() != move.To.Whole() || !move.From.Whole() && (move.From.Object.Kind != move.To.Object.Kind || move.From.Object.Name != move.To.Object.Name) {
				return failure.New("These addresses do not match", "Give two blocks, or two objects of the same kind and name: an object in the cluster cannot be renamed.")
			}
			return changing(s, c, "state mv", func(session *state.Session) (string, error) { return moveObjects(session, move) })
		},
	}
}

// moveObjects changes addresses in the state, also in the dependencies of other objects.
func moveObjects(session *state.Session, move addrs.Move) (string, error) {
	st := session.State()
	moved := map[string]string{} // from the old addresses to the new ones
	var known []string
	for i := range st.Objects {
		known = append(known, st.Objects[i].Address)
		address, err := addrs.ParseObject(st.Objects[i].Address)
		if err != nil {
			return "", fmt.Errorf("read the state: %w", err)
		}
		if to, ok := move.Apply(address); ok {
			moved[address.String()] = to.String()
		}
	}
	if len(moved) == 0 {
		return "", failure.New(fmt.Sprintf("The state has nothing at %s", move.From), command.DidYouMean(move.From.String(), known)+"`kolla state list` lists all addresses.")
	}
	var records []state.Object
	var old []string
	for _, o := range st.Objects {
		to, moves := moved[o.Address]
		if moves {
			if st.Find(to) != nil {
				return "", failure.New(fmt.Sprintf("The state has %s already", to), fmt.Sprintf("%s cannot get the address of another object.", o.Address))
			}
			old = append(old, o.Address)
			o.Address = to
			if family, err := addrs.ParseObject(o.Family); err == nil {
				if changed, ok := move.Apply(family); ok {
					o.Family = changed.String()
				}
			}
		}
		changed := moves
		for i, on := range o.DependsOn {
			if to, ok := moved[on]; ok {
				o.DependsOn[i], changed = to, true
			}
		}
		if changed {
			records = append(records, o)
		}
	}
	if err := session.Record(records...); err != nil {
		return "", err
	}
	if err := session.Forget(old...); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s moved from %s to %s.", words.Count(len(moved), "object"), move.From, move.To), nil
}

// changing runs work while it holds the lock of the state, and prints the text that work returns
// after the state is saved. It needs no complete configuration. If the state is in a file, it needs
// no cluster.
func changing(s command.Streams, c *cli.Context, operation string, work func(*state.Session) (string, error)) error {
	w := command.NewWorkspace(s, c)
	if err := w.OpenStore(c.Context); err != nil {
		return err
	}
	var said string
	err := w.WithLock(c.Context, operation, func(session *state.Session) (err error) {
		said, err = work(session)
		return err
	})
	if err == nil {
		foreign.Fprintf(s.Out, "%s\n", said)
	}
	return err
}
