package pods

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// capabilities are the capabilities of Linux without the prefix CAP_, which Kubernetes does not
// write. See capabilities(7).
var capabilities = strings.Fields(`AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE
	CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN
	MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE NET_BROADCAST NET_RAW PERFMON SETFCAP SETGID SETPCAP SETUID
	SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE
	SYS_TIME SYS_TTY_CONFIG WAKE_ALARM`)

// powers evaluates the privileges of a container.
func powers(b *source.Block, e *eval.Env) configs.Powers {
	p := configs.Powers{Unsettled: !eval.AllKnown(e, b, "user", schema.ReasonAttribute.Name), Root: eval.IsSet(e, b, "user") && eval.AllKnown(e, b, "user") && eval.Number(e, b, "user") == 0}
	if b.Type.Attribute("privileged") == nil {
		return p
	}
	p.Privileged, p.WritableRoot = eval.Bool(e, b, "privileged"), eval.Bool(e, b, "writable_root")
	p.Reason = eval.String(e, b, schema.ReasonAttribute.Name)
	p.Seccomp, p.AppArmor, p.SELinux = eval.String(e, b, "seccomp"), eval.String(e, b, "apparmor"), eval.String(e, b, "selinux")
	for i, name := range eval.List(e, b, "capabilities") {
		switch bare := strings.TrimPrefix(strings.ToUpper(name), "CAP_"); {
		case slices.Contains(capabilities, name):
			p.Capabilities = append(p.Capabilities, name)
		case slices.Contains(capabilities, bare):
			eval.Unsuitable(e, b, "capabilities", "Element %d, %q, is written %q here.", i, name, bare)
		default:
			eval.Unsuitable(e, b, "capabilities", "%s", words.WithHint(words.DidYouMean(bare, capabilities), fmt.Sprintf("Element %d, %q, is no capability of Linux.", i, name)))
		}
	}
	return p
}

// checkPowers reports capabilities of a container that does not run as root. Kubernetes gives
// capabilities to root only.
func checkPowers(s *Service, b *source.Block, p configs.Powers, user int) {
	if user != 0 && len(p.Capabilities) > 0 {
		s.Env.Report.Error(b.AttributeRange("capabilities"), "Capabilities without effect", "%s runs as user %d, and only root gets capabilities. Write user = 0 as well, or take them away.", words.Capital(b.Described()), user)
	}
}
