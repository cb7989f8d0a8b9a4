package statecmd

import (
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/state"
)

// logCommand is `kolla state log`.
func logCommand(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "log",
		Usage: "List the last applies",
		Description: `
Lists up to 100 applies and destroys that changed anything, the newest first: when each
began, who ran it, its result, and the commit of git that was checked out around the
configuration. A + behind the commit means that files of the configuration differed from
it. Below are the services and other blocks whose objects changed.

An apply that was killed has no result. It needs no valid configuration.`,
		Flags: append(command.StateFlags(), &cli.BoolFlag{Name: "json", Usage: "print JSON, the oldest first"}),
		Action: func(c *cli.Context) error {
			w := command.NewWorkspace(s, c)
			if err := w.OpenLastStore(c.Context); err != nil {
				return err
			}
			st, err := w.Store.Read()
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return foreign.JSON(s.Out, struct {
					Format  string        `json:"format_version"`
					Cloud   string        `json:"cloud"`
					Applies []state.Apply `json:"applies"`
				}{"1.0", st.Cloud, append([]state.Apply{}, st.History...)}, "  ")
			}
			holder, err := w.Store.Holder()
			if err != nil {
				return err
			}
			return tables.History(s.Out, st.History, holder)
		},
	}
}
