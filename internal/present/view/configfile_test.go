package view_test

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/lang/configs"
)

func origin(layer, file string, line int) configs.Origin {
	return configs.Origin{Layer: layer, Range: hcl.Range{Filename: file, Start: hcl.Pos{Line: line}}}
}

func configExplained(p *view.Printer) {
	const catalogue = "<catalogue>/keystone.hcl"
	secret := configs.Text{{Literal: "mysql://keystone:"}, {Secret: &configs.SecretRef{Service: "keystone", Secret: "db-keystone", Key: "password"}}, {Literal: "@mariadb.openstack:3306/keystone"}}
	_ = view.ExplainConfig(p.Out, "keystone", configs.ConfigFile{
		Name: "keystone.conf", Format: "ini", Path: "/etc/keystone/keystone.conf", SecretPath: "/etc/keystone/keystone.conf.d/secrets.conf",
		Options: []configs.Option{
			{
				Section: "DEFAULT", Key: "debug", Values: []configs.Text{configs.Plain("true")}, Origin: origin("service", "cloud.hcl", 141),
				Overrides: []configs.Override{
					{Origin: origin("directory", "config/keystone.conf", 2), Text: "", Known: true},
					{Origin: origin("cloud", "cloud.hcl", 7), Text: "false", Known: true},
					{Origin: origin("definition", catalogue, 34)},
				},
			},
			{Section: "DEFAULT", Key: "default_log_levels", Values: []configs.Text{configs.Plain(strings.Repeat("sqlalchemy=WARN,", 20))}, Origin: origin("definition", catalogue, 39)},
			{Section: "DEFAULT", Key: "motd", Values: []configs.Text{configs.Plain("\x1b[31m")}, Origin: origin("service", "cloud.hcl", 142)},
			{
				Section: "database", Key: "connection", Values: []configs.Text{secret}, Origin: origin("service", "cloud.hcl", 143),
				Overrides: []configs.Override{{Origin: origin("definition", catalogue, 48)}},
			},
			{Section: "oslo_messaging", Key: "topics", Values: []configs.Text{configs.Plain("a"), configs.Plain("b")}, Origin: origin("directory", "config/keystone.conf", 12)},
		},
	})
}

func configExplainedRaw(p *view.Printer) {
	_ = view.ExplainConfig(p.Out, "keystone", configs.ConfigFile{Name: "policy.yaml", Format: "raw", Path: "/etc/keystone/policy.yaml", Origin: origin("service", "cloud.hcl", 12)})
}
