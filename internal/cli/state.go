package cli

import (
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/state"
)

func stateCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "state",
		Usage: "Look into the state, or mend it",
		Subcommands: []*cli.Command{
			{
				Name:      "list",
				Usage:     "List the addresses of what kolla made",
				ArgsUsage: "[ADDRESS...]",
				Description: `
ADDRESS is that of an object, of a block or of a module: of a block that is repeated
with its key or, for all of them, without. What a shell would take away is put within
quotes: kolla state list 'service.redis["cache"]'.`,
				Flags: []cli.Flag{stateFlag()},
				Action: func(c *cli.Context) error {
					st, err := state.Open(c.String("state")).Read()
					if err != nil {
						return err
					}
					return listObjects(s, st, c.Args().Slice())
				},
			},
			{
				Name:      "show",
				Usage:     "Show what the state knows of one object",
				ArgsUsage: "ADDRESS",
				Flags:     []cli.Flag{stateFlag()},
				Action: func(c *cli.Context) error {
					if c.NArg() != 1 {
						return failure.New("Which object?", "kolla state show ADDRESS; `kolla state list` lists the addresses.")
					}
					st, err := state.Open(c.String("state")).Read()
					if err != nil {
						return err
					}
					return showObject(s, st, c.Args().First())
				},
			},
			rebuildCommand(s),
		},
	}
}

// listObjects prints the addresses in the state, or those of them that are asked for.
func listObjects(s streams, st *state.State, asked []string) error {
	var targets []addrs.Target
	for _, text := range asked {
		target, err := addrs.ParseTarget(text)
		if err != nil {
			return failure.New(fmt.Sprintf("%q is not an address", text), failure.Sentence(err.Error())+".")
		}
		targets = append(targets, target)
	}
	var known []string // what would have matched
	matched := make([]bool, len(targets))
	for _, o := range st.Objects {
		address, err := addrs.ParseObject(o.Address)
		if err != nil {
			return fmt.Errorf("read the state: %w", err)
		}
		known = append(known, o.Address, address.Block, addrs.SplitBlock(address.Block).All())
		show := len(targets) == 0
		for i, t := range targets {
			if t.Has(address) {
				show, matched[i] = true, true
			}
		}
		if show {
			foreign.Fprintf(s.out, "%s\n", o.Address)
		}
	}
	if i := slices.Index(matched, false); i >= 0 {
		slices.Sort(known)
		return failure.New(fmt.Sprintf("The state has nothing at %s", targets[i]), didYouMean(asked[i], slices.Compact(known))+"`kolla state list` lists all addresses.")
	}
	return nil
}

func showObject(s streams, st *state.State, address string) error {
	address = canonical([]string{address})[0]
	o := st.Find(address)
	if o == nil {
		var known []string
		for _, object := range st.Objects {
			known = append(known, object.Address)
		}
		return failure.New(fmt.Sprintf("No object %q in the state", address), didYouMean(address, known)+"`kolla state list` lists the addresses.")
	}
	table := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			foreign.Fprintf(table, "%s:\t%s\n", name, value)
		}
	}
	row("Address", o.Address)
	row("Kind", o.APIVersion+" "+o.Kind)
	row("Namespace", o.Namespace)
	row("Name", o.Name)
	row("UID", o.UID)
	row("Version of", o.Family)
	row("Holds", o.Holds)
	row("Applied", o.Applied.Local().Format(time.RFC3339))
	row("Ready", fmt.Sprint(o.Ready))
	for i, address := range o.DependsOn {
		if i == 0 {
			row("Depends on", address)
			continue
		}
		foreign.Fprintf(table, "\t%s\n", address)
	}
	return table.Flush()
}

func forceUnlockCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "force-unlock",
		Usage:     "Release a lock that its holder left behind",
		ArgsUsage: "ID",
		Description: `
A kolla that dies on this machine leaves no lock. This is for a holder on another
machine, when you are sure that it works no more. The message about the lock says
the ID.`,
		Flags: []cli.Flag{stateFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return failure.New("Which lock?", "kolla force-unlock ID; the message about the lock says the ID.")
			}
			s.mayWrite()
			if err := state.Open(c.String("state")).ForceUnlock(c.Args().First()); err != nil {
				return err
			}
			fmt.Fprintln(s.out, "The lock is released.")
			return nil
		},
	}
}
