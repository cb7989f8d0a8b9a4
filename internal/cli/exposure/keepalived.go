package exposure

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/keepalived"
)

func keepalivedCommand(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "keepalived",
		Usage:     "Print the configuration of the keepalived that moves the VIP between two devices",
		ArgsUsage: "[EXPOSURE]",
		Description: `
For two machines outside of the cluster that run HAProxy with the file of kolla exposure
haproxy, and keepalived 2.2 or later. One of them has the VIP. If it or its HAProxy ends, the
other one takes the VIP. Print a file for each machine, with -address and -peer exchanged.

The command needs the cluster only if the configuration has data blocks.`,
		Flags: append(command.CloudFlags(),
			&cli.StringFlag{Name: "interface", Required: true, Usage: "network `INTERFACE` of the machine that gets the VIP"},
			&cli.StringFlag{Name: "address", Required: true, Usage: "`ADDRESS` of the machine itself"},
			&cli.StringFlag{Name: "peer", Required: true, Usage: "`ADDRESS` of the other machine"},
			&cli.IntFlag{Name: "router-id", Value: keepalived.DefaultRouterID, Usage: "`NUMBER` of the VRRP group, 1 to 255, that no other group of these two machines has"},
			outFlag(), command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			if err := command.AtMost(c, 1); err != nil {
				return err
			}
			file := written(c, keepalived.Signature)
			if err := file.Check(); err != nil {
				return err
			}
			w := command.NewWorkspace(s, c)
			exposure, err := loadExposure(w, "keepalived", c.Args().First())
			if err != nil {
				return err
			}
			device, err := deviceOf(c, exposure)
			if err != nil {
				return err
			}
			return writeChecked(w, file, "keepalived -t -f", keepalived.Render(w.Config.Cloud.Name, exposure, device))
		},
	}
}

// deviceOf reads the options about a device.
func deviceOf(c *cli.Context, exposure configs.Exposure) (keepalived.Device, error) {
	device := keepalived.Device{Interface: c.String("interface"), RouterID: c.Int("router-id"), PIDFile: keepalived.PIDFile}
	if exposure.Mode != configs.ModeNodePort {
		return device, failure.New("Nothing to configure", fmt.Sprintf("Exposure %q has the mode %q: only %q needs a load balancer of your own.", exposure.Name, exposure.Mode, configs.ModeNodePort))
	}
	if device.Interface == "" || len(device.Interface) > 15 || strings.ContainsAny(device.Interface, " \t\n/:\"#!{}") {
		return device, failure.New("Unsuitable -interface", fmt.Sprintf("%q is not the name of a network interface, such as eth0 or bond0.100.", device.Interface))
	}
	if device.RouterID < 1 || device.RouterID > 255 {
		return device, failure.New("Unsuitable -router-id", fmt.Sprintf("%d is not a number from 1 to 255.", device.RouterID))
	}
	vip, err := netip.ParseAddr(exposure.VIP)
	if err != nil {
		return device, failure.New("The VIP is not known", fmt.Sprintf("The vip of exposure %q reads something that exists only after an apply.", exposure.Name))
	}
	for _, option := range []struct {
		name string
		to   *netip.Addr
	}{{"address", &device.Address}, {"peer", &device.Peer}} {
		text := c.String(option.name)
		address, err := netip.ParseAddr(text)
		switch {
		case err != nil:
			return device, failure.New("Unsuitable -"+option.name, fmt.Sprintf("%q is not an IP address, such as 192.0.2.2.", text))
		case address == vip:
			return device, failure.New("Unsuitable -"+option.name, fmt.Sprintf("%s is the VIP of exposure %q, which moves. It must be the address that the machine always has.", address, exposure.Name))
		case address.Is4() != vip.Is4():
			return device, failure.New("Unsuitable -"+option.name, fmt.Sprintf("%s and the VIP %s are not both of IPv4 or IPv6.", address, vip))
		}
		*option.to = address
	}
	if device.Address == device.Peer {
		return device, failure.New("Unsuitable -peer", fmt.Sprintf("%s is the address of the machine itself. -peer is the address of the other machine.", device.Peer))
	}
	return device, nil
}
