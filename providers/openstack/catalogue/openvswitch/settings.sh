# Puts SETTINGS, lines of KEY=VALUE, in the place of those that stood there once.

ovs-vsctl --no-wait init
ovs-vsctl --no-wait clear Open_vSwitch . other_config
printf '%s\n' "$SETTINGS" | while IFS= read -r setting; do
  [ -z "$setting" ] || ovs-vsctl --no-wait set Open_vSwitch . "other_config:$setting"
done
